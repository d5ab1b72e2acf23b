package dev.ringfetch.index.replication;

import java.util.ArrayDeque;

/**
 * One thread's turns at replicas. What is due while the thread drives or tells comes after that:
 * otherwise a listener that causes more would be called within itself, without bound.
 */
final class ReplicaTurns {
  private static final ThreadLocal<ReplicaTurns> OF_THREAD =
      ThreadLocal.withInitial(ReplicaTurns::new);

  private final ArrayDeque<Replica> postponed = new ArrayDeque<>();
  private boolean driving;

  private ReplicaTurns() {}

  static ReplicaTurns ofThread() {
    return OF_THREAD.get();
  }

  /** Does a replica's cycles, and those that they caused; later if within such. */
  void run(Replica replica) {
    if (driving) {
      if (!postponed.contains(replica)) {
        postponed.add(replica);
      }
      return;
    }
    driving = true;
    try {
      Replica next = replica;
      while (next != null) {
        next.doCycles();
        next = postponed.poll();
      }
    } finally {
      driving = false;
    }
  }
}
