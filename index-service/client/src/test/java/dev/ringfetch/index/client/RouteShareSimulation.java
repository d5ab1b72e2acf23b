package dev.ringfetch.index.client;

import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.function.IntUnaryOperator;

/**
 * Clients that read an index by calls and directly, in simulated time: one server with a card of
 * published rates and cores, and clients with one read each under way at a time.
 *
 * <p>A call takes the server's card in, a core, and the card out; a direct read takes as many turns
 * of the card, one after another, as it reads nodes. What waits, waits in order.
 */
final class RouteShareSimulation {
  /** ConnectX-3 as HERD and RFP measured it: it takes in five times what it sends. */
  static final Load GET = new Load("get", 2, 500, 1);

  /** A scan of some hundred entries: nodes and blocks of them, or a page that a core fills. */
  static final Load SCAN = new Load("scan of 100", 12, 12_000, 8);

  private static final double IN_NS = 1e9 / 11.26e6;
  private static final double OUT_NS = 1e9 / 2.11e6;
  private static final long WIRE_NS = 850;
  private static final long POST_NS = 100;

  private final SplittableRandom random;
  private final PriorityQueue<Event> events = new PriorityQueue<>();
  private final Station cardIn = new Station(1);
  private final Station cardOut = new Station(1);
  private Station cores;
  private Load load;
  private final List<Client> clients = new ArrayList<>();
  private long nowNs;
  private long order;
  private long done;

  /**
   * The costs of a read.
   *
   * @param reads one after another, of a direct one
   * @param coreNs of a call
   * @param sends work requests of the card for the answer of a call
   */
  record Load(String name, int reads, long coreNs, int sends) {}

  private record Event(long atNs, long order, Runnable action) implements Comparable<Event> {
    @Override
    public int compareTo(Event other) {
      return atNs != other.atNs ? Long.compare(atNs, other.atNs) : Long.compare(order, other.order);
    }
  }

  /** Serves in the order of arrival, by so many at a time. */
  private final class Station {
    private final long[] freeNs;

    Station(int servers) {
      freeNs = new long[servers];
    }

    void serve(double meanNs, Runnable then) {
      int first = 0;
      for (int i = 1; i < freeNs.length; i++) {
        first = freeNs[i] < freeNs[first] ? i : first;
      }
      final double takes = meanNs * (0.5 + random.nextDouble()); // no two take the same
      freeNs[first] = Math.max(freeNs[first], nowNs) + (long) takes;
      at(freeNs[first], then);
    }
  }

  RouteShareSimulation(long seed, int cores, Load load) {
    random = new SplittableRandom(seed);
    this.cores = new Station(cores);
    this.load = load;
  }

  /** Adds clients that keep a share of their own. */
  RouteShareSimulation adaptive(int count) {
    for (int i = 0; i < count; i++) {
      final SplittableRandom own = random.split();
      clients.add(
          new Client(
              new RouteShare(() -> nowNs, own::nextInt, (eighths, probes) -> {}), 0, own::nextInt));
    }
    return this;
  }

  /** Adds clients that keep to a share, in eighths. */
  RouteShareSimulation fixed(int count, int eighths) {
    for (int i = 0; i < count; i++) {
      clients.add(new Client(null, eighths, random.split()::nextInt));
    }
    return this;
  }

  /** From now on reads take this. */
  void change(int coreCount, Load changed) {
    cores = new Station(coreCount);
    load = changed;
  }

  private void at(long atNs, Runnable action) {
    events.add(new Event(atNs, order++, action));
  }

  private void after(long ns, Runnable action) {
    at(nowNs + ns, action);
  }

  /** Goes on for a time; returns reads a second. */
  double run(long ns) {
    if (nowNs == 0) {
      clients.forEach(client -> after(random.nextInt(10_000), client::begin));
    }
    final long doneBefore = done;
    final long endNs = nowNs + ns;
    while (events.peek().atNs < endNs) {
      final Event event = events.poll();
      nowNs = event.atNs;
      event.action.run();
    }
    nowNs = endNs;
    return 1e9 * (done - doneBefore) / ns;
  }

  /** Reads that have ended. */
  long done() {
    return done;
  }

  /** Eighths that go directly, of all clients together. */
  int eighths() {
    return clients.stream().mapToInt(client -> client.share.eighths()).sum();
  }

  /** Share of the clients' time that probes took. */
  double probeTime() {
    return clients.stream().mapToDouble(client -> client.probeNs).sum() / nowNs / clients.size();
  }

  private final class Client {
    private final RouteShare share; // null: fixed
    private final int eighths;
    private final IntUnaryOperator draws;
    private RouteShare.Turn turn;
    private long beganNs;
    private double probeNs;

    Client(RouteShare share, int eighths, IntUnaryOperator draws) {
      this.share = share;
      this.eighths = eighths;
      this.draws = draws;
    }

    void begin() {
      beganNs = nowNs;
      turn = share == null ? null : share.begin(1_000_000_000);
      if (turn == null ? draws.applyAsInt(RouteShare.ALL) < eighths : turn.isDirect()) {
        read(load.reads);
      } else {
        call(load);
      }
    }

    private void read(int left) {
      if (left == 0) {
        end();
      } else {
        after(
            POST_NS + WIRE_NS,
            () -> cardIn.serve(IN_NS, () -> after(WIRE_NS, () -> read(left - 1))));
      }
    }

    private void call(Load of) {
      final Runnable answer =
          () -> cardOut.serve(OUT_NS * of.sends, () -> after(WIRE_NS, this::end));
      after(
          POST_NS + WIRE_NS,
          () -> cardIn.serve(IN_NS, () -> cores.serve((double) of.coreNs, answer)));
    }

    private void end() {
      done++;
      if (turn != null) {
        if (turn.isProbe()) {
          probeNs += nowNs - beganNs;
        }
        share.end(turn, true);
      }
      begin();
    }
  }
}
