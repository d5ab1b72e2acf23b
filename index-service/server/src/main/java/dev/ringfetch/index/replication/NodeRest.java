package dev.ringfetch.index.replication;

import java.util.Collection;

/**
 * The rest of the node's thread between two steps: until the first replica's cycle is due, or until
 * another thread ends it. A thread that wakes for something else looks at no replica, so that
 * thousands of idle ones cost it nothing.
 *
 * <p>A replica publishes its due time and then looks whether that is earlier than all others; the
 * thread announces that it looks and then looks at the due times. So one of them sees the other.
 */
final class NodeRest {
  private static final long FAR_NS = Long.MAX_VALUE / 2;

  private final Runnable alarm;
  private volatile boolean resting;
  private volatile boolean isNew = true; // something of a replica, since the last look
  private volatile long earliestNs; // due time of a replica, of all

  /**
   * Creates it.
   *
   * @param alarm wakes the thread; called on any thread
   */
  NodeRest(Runnable alarm) {
    this.alarm = alarm;
  }

  /** Ends the rest if the published due time of a replica is before all others. On any thread. */
  void endBefore(long dueNs) {
    if (dueNs - earliestNs < 0) {
      isNew = true;
      if (resting) {
        end();
      }
    }
  }

  /** Ends the rest, or the next one if the thread works. On any thread. */
  void end() {
    isNew = true;
    resting = false;
    alarm.run();
  }

  /**
   * Begins a rest, by the thread that rests.
   *
   * @param mostNs limit of its time
   * @return time until which it lasts
   */
  long begin(Collection<Replica> replicas, long nowNs, long mostNs) {
    resting = true; // before the look
    if (isNew || nowNs - earliestNs >= 0) {
      lookAtDueTimes(replicas, nowNs);
    }
    // A replica whose owner is in a long cycle has a due time of the past.
    return nowNs + Math.max(Math.min(mostNs, earliestNs - nowNs), Activity.PERIOD_NS);
  }

  private void lookAtDueTimes(Collection<Replica> replicas, long nowNs) {
    earliestNs = nowNs + FAR_NS; // before the look
    long restNs = FAR_NS;
    for (final Replica replica : replicas) {
      restNs = Math.min(restNs, replica.dueNs() - nowNs);
    }
    earliestNs = nowNs + restNs;
  }

  /** The thread works: what becomes due is seen before the next rest. */
  void work() {
    resting = false;
  }

  /** Whether a replica is due, or has something for the thread, which looks at all then. */
  boolean takeNew(long nowNs) {
    if (!isNew && nowNs - earliestNs < 0) {
      return false;
    }
    isNew = false; // before the look
    earliestNs = nowNs; // the next rest begins with a look at the due times
    return true;
  }
}
