package dev.ringfetch.index.replication;

import java.util.Collection;

/**
 * The rest of the node's thread between two steps: until the first replica's cycle is due, or until
 * another thread ends it.
 *
 * <p>A replica publishes its due time and then looks whether the thread rests for longer; the
 * thread announces its rest and then looks at the due times. So one of them sees the other.
 */
final class NodeRest {
  private final Runnable alarm;
  private volatile boolean resting;
  private volatile long untilNs;

  /**
   * Creates it.
   *
   * @param alarm wakes the thread; called on any thread
   */
  NodeRest(Runnable alarm) {
    this.alarm = alarm;
  }

  /** Ends a rest that lasts beyond the published due time of a replica. On any thread. */
  void endBefore(long dueNs) {
    if (resting && dueNs - untilNs < 0) {
      end();
    }
  }

  /** Ends the rest, or the next one if the thread works. On any thread. */
  void end() {
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
    long restNs = mostNs;
    untilNs = nowNs + restNs;
    resting = true; // before the look
    for (final Replica replica : replicas) {
      restNs = Math.min(restNs, replica.dueNs() - nowNs);
    }
    // A replica whose owner is in a long cycle has a due time of the past.
    untilNs = nowNs + Math.max(restNs, Activity.PERIOD_NS);
    return untilNs;
  }

  /** The thread works: what becomes due is seen before the next rest. */
  void work() {
    resting = false;
  }
}
