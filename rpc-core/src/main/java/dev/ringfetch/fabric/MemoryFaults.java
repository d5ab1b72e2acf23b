package dev.ringfetch.fabric;

/**
 * Handler of faults of memory that a peer has truncated. The JVM throws them late, and newer JVMs
 * throw one for every access that failed: those that are left would be thrown in unrelated code.
 */
public final class MemoryFaults {
  private static final int LIMIT = 100_000;
  private static final int STEP = 4096; // no page is smaller

  private MemoryFaults() {}

  /** Collects the remaining errors of a fault, and adds them as suppressed to the first one. */
  public static void absorb(MemoryRegion memory, Throwable fault) {
    absorb(memory::verify, fault);
  }

  /** As {@link #absorb(MemoryRegion, Throwable)}, where another method verifies the memory. */
  public static void absorb(Runnable verify, Throwable fault) {
    for (int i = 0; i < LIMIT; i++) {
      try {
        verify.run();
        return;
      } catch (InternalError again) {
        if (i == 0) {
          fault.addSuppressed(again); // the others are alike
        }
      }
    }
  }

  /**
   * The fault behind damage that was noticed: the bytes of a page that is gone may be read, and
   * found to be wrong, before the fault is thrown. Collects the remaining errors, too.
   *
   * @return the {@code InternalError} with the damage as suppressed, or the damage if it is one, or
   *     if there was no fault.
   */
  public static Throwable cause(Runnable verify, Throwable damage) {
    Throwable cause = damage;
    if (!(damage instanceof InternalError)) {
      try {
        verify.run();
        return damage;
      } catch (InternalError fault) {
        fault.addSuppressed(damage);
        cause = fault;
      }
    }
    absorb(verify, cause);
    return cause;
  }

  /**
   * Loads from every page, and throws an {@code InternalError} if one is gone. The caller handles
   * it, because a handler in this method could be bypassed on account of the loop.
   *
   * @return a value that the caller stores, so that the loads are not optimised away.
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
