package dev.ringfetch.fabric;

/**
 * Faults of memory that a peer has truncated. The JVM throws them late, and later JVMs one for
 * every access that failed: what is left of them would come up in the midst of something else.
 */
public final class MemoryFaults {
  private static final int LIMIT = 100_000;
  private static final int STEP = 4096; // no page is smaller

  private MemoryFaults() {}

  /** Takes what is left of a fault, as suppressed by the first of it. */
  public static void absorb(MemoryRegion memory, Throwable fault) {
    for (int i = 0; i < LIMIT; i++) {
      try {
        memory.verify();
        return;
      } catch (InternalError again) {
        if (i == 0) {
          fault.addSuppressed(again); // the others are alike
        }
      }
    }
  }

  /**
   * Loads from every page, and throws an {@code InternalError} if one is gone. The caller handles
   * it: a handler here could be passed by, round a loop.
   *
   * @return what keeps the loads from being left out, if it is stored.
   */
  public static long touch(MemoryRegion memory) {
    long sum = 0;
    for (int i = 0; i < memory.length(); i += STEP) {
      sum += memory.getLong(i);
    }
    memory.verify();
    return sum;
  }
}
