package dev.ringfetch.session;

import org.agrona.concurrent.NanoClock;

/**
 * How long after a request the answer is read, where nothing else is expected: as late as answers
 * come, so that one read finds it. A read that comes too early costs the server's card what a
 * request does, and the answer half a round trip; one that comes too late costs the answer the
 * time. So the delay grows by a share of a round trip with each read that was too early, whatever
 * the answer took then, and shrinks with each that was not by a share of what it has beyond the
 * time that the server says it has had the request for. Where some calls take long and others do
 * not it is that of the short ones and a round trip or so.
 *
 * <p>A delay of next to nothing is none, and the read leaves with the request, in one doorbell.
 * Reads after the first are not delayed: more is expected, or the time is over. Belongs to the
 * owner of the session.
 */
final class FetchPace {
  /** Longest delay, in round trips. */
  static final int MOST = 8;

  private static final double SHARE = 1.0 / 8;
  private static final double NOTHING = 1.0 / 32; // of a round trip
  private static final double FORGETTING = 1 + 1.0 / 64; // of the shortest round trip, a read

  private final NanoClock clock;

  private double delayNs;
  private double roundTripNs = Double.MAX_VALUE; // the shortest of late: without queues
  private long processNs; // of the last answer
  private boolean expecting;
  private boolean first; // no read has been posted since
  private long sinceNs;
  private boolean timed; // the read under way was the first
  private long postedNs;

  /** Creates it, without a delay. */
  FetchPace(NanoClock clock) {
    this.clock = clock;
  }

  /** Nothing is expected: the next request is a first one. */
  void rest() {
    expecting = false;
  }

  /**
   * Something is expected: true when it is to be read by now.
   *
   * @param held true where a request waits for its turn. It is one of many that are sent at once
   *     then, and says nothing.
   */
  boolean isDue(boolean held) {
    if (!expecting) {
      expecting = true;
      first = true;
      sinceNs = clock.nanoTime();
    }
    first &= !held;
    return !first || isOver(clock.nanoTime());
  }

  private boolean isOver(long nowNs) {
    return delayNs <= NOTHING * roundTripNs || nowNs - sinceNs >= (long) delayNs;
  }

  /** A read is under way. Before it was due it had another reason, and is none to learn from. */
  void posted() {
    postedNs = clock.nanoTime();
    timed = expecting && first && isOver(postedNs);
    first = false;
  }

  /** An answer says that the server has had its request for so long, in nanoseconds. */
  void answered(long nanos) {
    processNs = nanos;
  }

  /** The read under way has found nothing. */
  void missed() {
    arrived();
    if (timed) {
      delayNs = Math.min(delayNs + SHARE * roundTripNs, MOST * roundTripNs);
    }
  }

  /** The read under way has found what was expected. */
  void found() {
    arrived();
    if (timed) {
      delayNs -= SHARE * Math.max(0, delayNs - processNs);
    }
  }

  private void arrived() {
    final double tookNs = clock.nanoTime() - postedNs;
    roundTripNs = Math.min(tookNs, FORGETTING * roundTripNs);
  }
}
