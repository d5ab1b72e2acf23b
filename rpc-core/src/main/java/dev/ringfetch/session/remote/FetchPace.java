package dev.ringfetch.session.remote;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Tally;
import dev.ringfetch.session.owner.OwnedBy;
import dev.ringfetch.session.poller.Dated;
import org.agrona.concurrent.NanoClock;

/**
 * The delay between a request and the first read of its answer, where nothing else is expected:
 * about the time that answers take, so that one read finds it. A read that comes too early costs
 * the server's card what a request does, and the answer half a round trip; one that comes too late
 * costs the answer the time.
 *
 * <p>So the delay grows by a share of a round trip with each answer that the first read has missed,
 * whatever it took then, and shrinks with each that it has found by a share of what it has beyond
 * the time that the server says it has had the request for. It is no longer than some round trips,
 * nor than this side waits before it goes to sleep. A delay of next to nothing is none, and the
 * read leaves with the request, in one doorbell.
 *
 * <p>Reads after the first are not delayed: more is expected, or the time is over.
 */
@OwnedBy("session")
final class FetchPace {
  /** Longest delay, in round trips. */
  static final int MOST = 8;

  /** Round trips before a deadline, at which it is read for whatever the delay is. */
  static final int LAST = 2;

  /** What is known of the answer that is expected. */
  enum Phase {
    /** Nothing is expected: the next request is a first one. */
    RESTING,
    /** An answer is expected, and the first read for it is not posted yet. */
    DELAYING,
    /** More is expected, or the first read was posted: reads follow without a delay. */
    READING;

    /**
     * Returns the next phase.
     *
     * @throws IllegalStateException when that phase does not follow on this one.
     */
    Phase to(Phase next) {
      if (this == READING && next == DELAYING) {
        throw new IllegalStateException("from=" + this + ", to=" + next);
      }
      return next;
    }
  }

  /** The first read for an answer. */
  enum FirstRead {
    /** None is under way. */
    NONE,
    /** It was posted before the delay was over, for another reason. */
    EARLY,
    /** It was posted when it was due. */
    DUE
  }

  private static final double SHARE = 1.0 / 8;
  private static final double NOTHING = 1.0 / 32; // of a round trip
  private static final double FORGETTING = 1 + 1.0 / 64; // of the shortest round trip, a read

  private final NanoClock clock;
  private final Tally tally;

  private double delayNs;
  private double roundTripNs = Double.MAX_VALUE; // the shortest of late: without queues
  private Phase phase = Phase.RESTING;
  private long sinceNs;
  private long rings; // before
  private FirstRead firstRead = FirstRead.NONE; // under way
  private long postedNs;
  private boolean missed; // by the first, when it was due
  private boolean begun; // what the first has found
  private boolean answered; // since a read was posted, and it was said how long that took
  private long processNs;
  private double beyondNs; // the delay, beyond that, while answers are pushed

  /** Creates the pace, without a delay. */
  FetchPace(NanoClock clock, Tally tally) {
    this.clock = clock;
    this.tally = tally;
  }

  /** Nothing is expected: the next request is a first one. */
  void rest() {
    phase = phase.to(Phase.RESTING);
    missed = false;
    begun = false;
    rings = rings();
  }

  /** True while something is expected. */
  boolean isExpecting() {
    return phase != Phase.RESTING;
  }

  /**
   * Answers are fetched from here on, or are not. What calls take without it is known then, too.
   *
   * @param fetches which of the two.
   */
  void turned(boolean fetches) {
    if (fetches) {
      delayNs = Math.min(delayNs, processNs + beyondNs);
    } else {
      beyondNs = Math.max(delayNs - processNs, SHARE * roundTripNs);
    }
  }

  /**
   * True when what is expected is to be read by now. Where nothing was, it is expected from now on.
   *
   * @param atOnce true to read without a delay, and to learn nothing from that.
   * @param deadlineNs the earliest, before which is to be read.
   */
  boolean isDue(boolean atOnce, long deadlineNs) {
    final boolean begins = phase == Phase.RESTING;
    if (atOnce) {
      phase = phase.to(Phase.READING);
    } else if (begins) {
      phase = phase.to(Phase.DELAYING);
    }
    if (phase == Phase.READING || isNone()) {
      return true;
    }
    final long nowNs = clock.nanoTime();
    if (begins) {
      sinceNs = nowNs;
    }
    return nowNs - sinceNs >= (long) delayNs
        || (deadlineNs != Dated.NO_DEADLINE && deadlineNs - nowNs <= LAST * roundTripNs);
  }

  private boolean isNone() {
    return delayNs <= NOTHING * roundTripNs;
  }

  private long rings() {
    return tally.get(Counter.SESSION_WAKEUPS_SENT);
  }

  /**
   * A read is under way.
   *
   * @param last whether it is the one before this side sleeps.
   */
  void posted(boolean last) {
    answered = false;
    if (phase != Phase.DELAYING) {
      return;
    }
    phase = phase.to(Phase.READING);
    postedNs = clock.nanoTime();
    final boolean due = isNone() || postedNs - sinceNs >= (long) delayNs;
    firstRead = due ? FirstRead.DUE : FirstRead.EARLY;
    if (last && !due) {
      delayNs = Math.max((double) (postedNs - sinceNs), delayNs / 2); // to be due just before
    }
  }

  /** What comes says that the server has had its request for so long, in nanoseconds. */
  void answered(long nanos) {
    answered = true;
    processNs = nanos;
  }

  /** The read under way has found nothing. */
  void missed() {
    missed |= arrived() == FirstRead.DUE;
  }

  /** The read under way has found the beginning of something, of which more is to be read. */
  void begun() {
    begun |= arrived() != FirstRead.NONE;
  }

  /** The read under way has found something, which need not be an answer. */
  void found() {
    begun();
    if (answered) {
      learn();
    }
    missed = false;
  }

  private void learn() {
    if (begun) {
      delayNs -= SHARE * Math.max(0, delayNs - processNs);
    } else if (missed && rings() == rings) { // else it says when the server woke up
      delayNs = Math.min(delayNs + SHARE * roundTripNs, MOST * roundTripNs);
    }
    begun = false;
    answered = false;
  }

  /** Returns the first read, if it is the one that has arrived. */
  private FirstRead arrived() {
    final FirstRead arrived = firstRead;
    if (arrived != FirstRead.NONE) {
      firstRead = FirstRead.NONE;
      final double tookNs = Math.max(1, clock.nanoTime() - postedNs);
      roundTripNs = Math.min(tookNs, FORGETTING * roundTripNs);
      delayNs = Math.min(delayNs, MOST * roundTripNs);
    }
    return arrived;
  }
}
