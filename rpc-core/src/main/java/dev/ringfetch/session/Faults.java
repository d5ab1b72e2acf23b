package dev.ringfetch.session;

import dev.ringfetch.fabric.MemoryRegion;

/**
 * Faults of memory that a peer has truncated. The JVM throws them late, and later JVMs one for
 * every access that failed: what is left of them would come up in the midst of something else.
 */
final class Faults {
  private static final int LIMIT = 100_000;

  private Faults() {}

  /** Takes what is left of a fault, as suppressed by the first of it. */
  static void absorb(MemoryRegion memory, Throwable fault) {
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
}
