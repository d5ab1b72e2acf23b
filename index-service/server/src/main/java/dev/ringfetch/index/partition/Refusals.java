package dev.ringfetch.index.partition;

import dev.ringfetch.index.store.PartitionStore;

/** The outcomes of writes that the store or the log refuses. */
final class Refusals {
  private Refusals() {}

  /** The outcome for a negative result of the store. */
  static int ofStore(int refused) {
    return switch (refused) {
      case PartitionStore.FULL -> Write.MEMORY_FULL;
      case PartitionStore.TOO_LONG -> Write.TOO_LONG;
      case PartitionStore.TOO_MANY_COLLISIONS -> Write.TOO_MANY_COLLISIONS;
      case PartitionStore.COLLISIONS_TOO_LONG -> Write.COLLISIONS_TOO_LONG;
      default -> throw new IllegalStateException("refused=" + refused);
    };
  }

  /** The outcome for a result of {@link CommitLog#append} other than {@link CommitLog#LATER}. */
  static int ofLog(long refused) {
    if (refused == CommitLog.FAILED) {
      return Write.UNAVAILABLE;
    }
    if (refused == CommitLog.OVER_QUOTA) {
      return Write.OVER_QUOTA;
    }
    return refused == CommitLog.FULL ? Write.LOG_FULL : Write.VERSIONS_EXHAUSTED;
  }
}
