package dev.ringfetch.session.remote;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.session.owner.OwnedBy;
import dev.ringfetch.session.poller.Poller;
import dev.ringfetch.session.poller.Timetable;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * The timetable of a server's sessions behind a card. A card caches the state of some hundred
 * connections, and becomes slow when more of them are in use at the same time. So beyond a number
 * of sessions in use, these take turns, in groups, by the server's clock: at any time one group is
 * in use, and the rest of the calls of the group before it.
 *
 * <p>In use is a session of which frames came in two <em>epochs</em> in a row, some milliseconds.
 * One that calls now and then is counted, but sends when it likes.
 *
 * <p>Thread-safe. A session comes here once an epoch, a poller looks at the time in each round.
 */
public final class TurnSchedule implements Timetable {
  /** The group of a session that may send at any time. */
  static final int NO_GROUP = -1;

  public static final int EPOCH_TURNS = 20; // at the least
  private static final int EPOCH_PERIODS = 4; // at the least
  private static final int IDLE_EPOCHS = 2;

  private final int threshold;
  private final int groupSize;
  private final int lengthNs;
  private volatile int epoch;
  private volatile int generation; // of groups
  private volatile long epochEndNs;

  @GuardedBy("this")
  private long epochNs;

  @GuardedBy("this")
  private int used; // sessions, in this epoch

  @GuardedBy("this")
  private int[] sizes = {}; // of groups: as of the last epoch, and those that joined since

  @GuardedBy("this")
  private int[] counts = {}; // of groups, in this epoch

  @GuardedBy("this")
  private final Map<Poller, int[]> shares = new HashMap<>(); // of pollers in groups

  /** Place of a session in the timetable. */
  @OwnedBy("session")
  static final class Seat {
    private int epoch = -2; // in which the session was in use last
    private int generation;
    private int groups;
    private int group = NO_GROUP;
    private int number;

    /** Which group the session is in, or {@link #NO_GROUP}. */
    int group() {
      return group;
    }

    /** How many groups there are. */
    int groups() {
      return groups;
    }

    /** Counts those of the group, from 0. */
    int number() {
      return number;
    }

    /** Takes the session out of its group: it is not in use any more. */
    void leave() {
      group = NO_GROUP;
    }
  }

  /** Creates a timetable without turns. */
  public TurnSchedule(RemoteContext context) {
    this.threshold = context.turnThreshold();
    this.groupSize = context.turnGroup();
    this.lengthNs = context.turnLengthNs();
    this.epochNs = (long) EPOCH_TURNS * lengthNs;
    this.epochEndNs = context.clock().nanoTime() + epochNs;
  }

  /** Length of a turn, in nanoseconds. */
  int lengthNs() {
    return lengthNs;
  }

  /** True when a session in use is to be counted, because it was not in this epoch. */
  boolean isNew(Seat seat) {
    return seat.epoch != epoch;
  }

  /** True when groups were made anew, or given up, since a session got its place. */
  boolean isOld(Seat seat) {
    return seat.generation != generation;
  }

  /** True when a session has not been in use for some epochs. */
  boolean isIdle(Seat seat) {
    return epoch - seat.epoch > IDLE_EPOCHS;
  }

  @Override
  public void tick(long nowNs) {
    if (nowNs - epochEndNs >= 0) {
      beginEpoch(nowNs);
    }
  }

  private synchronized void beginEpoch(long nowNs) {
    if (nowNs - epochEndNs < 0) {
      return;
    }
    final boolean recent = nowNs - epochEndNs < epochNs; // otherwise nobody was there to look
    final int groups = recent ? groupsFor(used) : 0;
    if (groups != sizes.length) {
      sizes = new int[groups];
      counts = new int[groups];
      shares.clear();
      generation++;
    } else {
      System.arraycopy(counts, 0, sizes, 0, groups);
      Arrays.fill(counts, 0);
    }
    used = 0;
    epochNs = Math.max(EPOCH_TURNS, (long) EPOCH_PERIODS * groups) * lengthNs;
    epochEndNs = nowNs + epochNs;
    epoch++;
  }

  /** As they are, while they are of about the right size; few groups are given up late. */
  @GuardedBy("this")
  private int groupsFor(int sessions) {
    final int before = sizes.length;
    if (sessions <= (before == 0 ? threshold : threshold - threshold / 4)) {
      return 0;
    }
    final long twice = 2L * sessions;
    final long whole = (long) before * groupSize;
    if (twice >= whole && twice <= 3 * whole) {
      return before;
    }
    final int wanted = Math.max(2, (sessions + groupSize - 1) / groupSize);
    return Math.min(wanted, Math.max(2, ClientTurn.MAX_PERIOD_NS / lengthNs));
  }

  /**
   * A session is in use that {@linkplain #isNew was not} in this epoch: counts it, and gives it a
   * place if it was in use in the one before.
   *
   * @param poller that serves the session, besides others.
   */
  synchronized void use(Seat seat, Poller poller) {
    final boolean steady = seat.epoch == epoch - 1;
    seat.epoch = epoch;
    used++;
    if (seat.generation != generation || seat.group == NO_GROUP) {
      seat.generation = generation;
      seat.groups = sizes.length;
      seat.group = NO_GROUP;
      if (steady && sizes.length > 0) {
        join(seat, poller);
      }
    }
    if (seat.group != NO_GROUP) {
      counts[seat.group]++;
    }
  }

  /** The smallest group, and among those one that has few sessions of the same poller. */
  @GuardedBy("this")
  private void join(Seat seat, Poller poller) {
    final int[] share = shares.computeIfAbsent(poller, key -> new int[sizes.length]);
    int best = 0;
    for (int group = 1; group < sizes.length; group++) {
      final int size = sizes[group] - sizes[best];
      if (size < 0 || (size == 0 && share[group] < share[best])) {
        best = group;
      }
    }
    share[best]++;
    seat.group = best;
    seat.number = sizes[best]++;
  }
}
