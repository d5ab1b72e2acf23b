package dev.ringfetch.index.client;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;

/**
 * The share of reads of one kind that go directly, in eighths; all others go by calls. It follows
 * the durations that this client has seen, and nothing else: after a window of operations it moves
 * by an eighth towards the faster route. Where both are used up by many clients, a mixture of them
 * serves more than either. At either end, probes take the other route, for at most 2 % of the time.
 *
 * <p>Each client draws the lengths of its windows, so that clients do not move together. The rules
 * are those of Catfish (adaptive offloading), with a share in the place of its back-off.
 *
 * <p>Safe for use by many threads. Of the reads of a fast index one in {@value #MOST_INTERVAL} is
 * timed, and the others touch nothing that is shared.
 */
final class RouteShare {
  /** All reads go directly. */
  static final int ALL = 8;

  /** Durations of each route that are remembered: their median counts. */
  private static final int DURATIONS = 9;

  /** Durations of each route without which the share stays. */
  private static final int FEWEST = 3;

  private static final int SHORTEST_WINDOW = 32;
  private static final int LONGEST_WINDOW = 64;

  /** The ratio of medians, direct to call, below which more go directly. */
  private static final double FASTER = 0.9;

  private static final double SLOWER = 1.1;

  /** Of the time of operations that one of probes may take. */
  private static final int PROBE_SHARE = 50;

  /** Medians of the other route until the deadline without which there is no probe. */
  private static final int PROBE_MEDIANS = 20;

  /** Time after which a route that nobody has taken since is as unknown as at first. */
  private static final long FORGOTTEN_NS = 5_000_000_000L;

  /** The most operations of which one is timed: to time each of a fast index would cost a tenth. */
  static final int MOST_INTERVAL = 16;

  /** The median of operations of which each is timed. */
  private static final long SLOW_NS = 8_000;

  private final LongSupplier clock;
  private final Listener listener;
  private final IntUnaryOperator draws; // below a bound
  private final Durations direct = new Durations();
  private final Durations calls = new Durations();
  private final List<Turn> timed = new ArrayList<>(); // under way
  private volatile int share = ALL;
  private volatile int interval = 1; // one of so many is timed
  private volatile boolean probeDue;
  private long probes; // since the last window
  private long creditNs; // for probes
  private int window; // operations until the share is looked at
  private int operations; // of this window

  /**
   * Creates a share of all, of a client that has read nothing yet.
   *
   * @param clock in nanoseconds
   * @param draws numbers below a bound
   * @param listener is called at the end of each window
   */
  RouteShare(LongSupplier clock, IntUnaryOperator draws, Listener listener) {
    this.clock = clock;
    this.draws = draws;
    this.listener = listener;
    window = drawWindow();
  }

  /** A receiver of shares. Called on the threads of reads, possibly by several at a time. */
  interface Listener {
    /**
     * Called at the end of a window.
     *
     * @param eighths that go directly in the next one
     * @param probes in the window
     */
    void onWindow(int eighths, long probes);
  }

  /** The route of one read, from its begin to its end. */
  static final class Turn {
    private static final Turn DIRECT = new Turn(true, false, 0);
    private static final Turn CALL = new Turn(false, false, 0);

    private final boolean direct;
    private final boolean probe;
    private final long beganNs;

    private Turn(boolean direct, boolean probe, long beganNs) {
      this.direct = direct;
      this.probe = probe;
      this.beganNs = beganNs;
    }

    boolean isDirect() {
      return direct;
    }

    /** Whether its duration counts. */
    boolean isTimed() {
      return this != DIRECT && this != CALL;
    }

    /** Whether it takes the route that no other read takes. */
    boolean isProbe() {
      return probe;
    }
  }

  /** The newest durations of a route, in order of time and of length. */
  private static final class Durations {
    private final long[] newest = new long[DURATIONS];
    private final long[] sorted = new long[DURATIONS];
    private int known;
    private int next; // place of the oldest, once all are known
    private long newestNs;
    private long medianNs; // 0: unknown

    void add(long ns, long nowNs) {
      int at = known;
      if (known == DURATIONS) { // in the place of the oldest
        at = 0;
        while (sorted[at] != newest[next]) {
          at++;
        }
        while (at < known - 1) {
          sorted[at] = sorted[++at];
        }
      } else {
        known++;
      }
      while (at > 0 && sorted[at - 1] > ns) {
        sorted[at] = sorted[--at];
      }
      sorted[at] = ns;
      newest[next] = ns;
      next = (next + 1) % DURATIONS;
      newestNs = nowNs;
      medianNs = sorted[known / 2];
    }

    void forgetBefore(long ns) {
      if (known > 0 && newestNs - ns < 0) {
        known = 0;
        next = 0;
        medianNs = 0;
      }
    }

    /** The median of them and of others. */
    long median(LongStream others) {
      final long[] all = LongStream.concat(Arrays.stream(sorted, 0, known), others).toArray();
      Arrays.sort(all);
      return all[all.length / 2];
    }
  }

  private int drawWindow() {
    return SHORTEST_WINDOW + draws.applyAsInt(LONGEST_WINDOW - SHORTEST_WINDOW + 1);
  }

  /**
   * Chooses the route of a read.
   *
   * @param leftNs time to its deadline
   * @return its turn, which {@link #end} takes at its end
   */
  Turn begin(long leftNs) {
    final int now = share;
    if (probeDue) {
      final Turn probe = probe(leftNs);
      if (probe != null) {
        return probe;
      }
    }
    final boolean isDirect = now == ALL || (now > 0 && draws.applyAsInt(ALL) < now);
    final int every = interval;
    if (every > 1 && draws.applyAsInt(every) > 0) {
      return isDirect ? Turn.DIRECT : Turn.CALL;
    }
    return begin(new Turn(isDirect, false, clock.getAsLong()));
  }

  private synchronized Turn begin(Turn turn) {
    timed.add(turn);
    return turn;
  }

  private synchronized Turn probe(long leftNs) {
    if (!probeDue || leftNs < PROBE_MEDIANS * of(share == 0).medianNs) {
      return null;
    }
    probeDue = false;
    probes++;
    return begin(new Turn(share == 0, true, clock.getAsLong()));
  }

  /**
   * Takes the end of a read.
   *
   * @param isAnswered whether it has an answer: a failure counts if it took longer than the median,
   *     so that a route on which reads fail at once is not the faster one
   */
  void end(Turn turn, boolean isAnswered) {
    if (turn.isTimed()) {
      final long ended = end(turn, isAnswered, clock.getAsLong());
      if (ended >= 0) {
        listener.onWindow(share, ended);
      }
    }
  }

  /** Returns the probes of a window that has ended, or -1. */
  private synchronized long end(Turn turn, boolean isAnswered, long nowNs) {
    final long tookNs = nowNs - turn.beganNs;
    timed.remove(turn);
    if (isAnswered || tookNs > of(turn.direct).medianNs) {
      of(turn.direct).add(tookNs, nowNs);
    }
    direct.forgetBefore(nowNs - FORGOTTEN_NS);
    calls.forgetBefore(nowNs - FORGOTTEN_NS);
    final int ops = turn.probe ? 1 : interval;
    creditNs += turn.probe ? -tookNs : tookNs * ops / PROBE_SHARE;
    operations += ops;
    long ended = -1;
    if (operations >= window) {
      move(nowNs);
      operations = 0;
      window = drawWindow();
      ended = probes;
      probes = 0;
    }
    final long medianNs = of(share * 2 >= ALL).medianNs;
    interval = (int) Math.max(1, Math.min(MOST_INTERVAL, SLOW_NS / Math.max(1, medianNs)));
    allowProbe();
    return ended;
  }

  /** Forgets a read that could not take the route that was chosen. */
  void cancel(Turn turn) {
    if (turn.isTimed()) {
      remove(turn);
    }
  }

  private synchronized void remove(Turn turn) {
    timed.remove(turn);
    interval = MOST_INTERVAL; // it may be so for long, without a grant
  }

  private Durations of(boolean isDirect) {
    return isDirect ? direct : calls;
  }

  private void move(long nowNs) {
    if (direct.known >= FEWEST && calls.known >= FEWEST) {
      share = next((double) medianNs(true, nowNs) / Math.max(1, medianNs(false, nowNs)));
    }
  }

  private int next(double ratio) {
    if (ratio < FASTER) {
      return Math.min(ALL, share + 1);
    }
    if (ratio > SLOWER) {
      return Math.max(0, share - 1);
    }
    // Where calls wait for one another, each one less helps all, which no client sees by itself.
    return share < ALL / 4 ? share + 1 : share > ALL - ALL / 4 ? share - 1 : share;
  }

  /** Median of a route, with the reads under way that have taken longer than it already. */
  private long medianNs(boolean isDirect, long nowNs) {
    final Durations ended = of(isDirect);
    return ended.median(
        timed.stream()
            .filter(turn -> turn.direct == isDirect)
            .mapToLong(turn -> nowNs - turn.beganNs)
            .filter(ageNs -> ageNs > ended.medianNs));
  }

  private void allowProbe() {
    if (share > 0 && share < ALL) {
      probeDue = false;
      return;
    }
    final Durations usual = of(share == ALL);
    final Durations other = of(share == 0);
    // An unknown route is assumed to be dear, so that a client of few reads does not try it.
    final long priceNs = other.known > 0 ? other.medianNs : 8 * usual.medianNs;
    creditNs = Math.min(creditNs, 2 * priceNs);
    probeDue = creditNs >= priceNs && timed.stream().noneMatch(turn -> turn.probe);
  }

  /** Eighths that go directly. */
  int eighths() {
    return share;
  }
}
