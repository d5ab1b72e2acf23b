package dev.ringfetch.session.handshake;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The limit of the memory that this process has on offer; connected memory does not count.
 * Thread-safe.
 */
final class OfferedMemory {
  /** Bytes that are on offer at once, unless one offer alone is longer. */
  static final long MAX_LENGTH = 256L * 1024 * 1024;

  private static final AtomicLong LENGTH = new AtomicLong(); // of the process, as the memory is

  private OfferedMemory() {}

  /** Counts so many bytes in, if there is room for them. */
  static boolean reserve(int length) {
    long before;
    do {
      before = LENGTH.get();
      if (before != 0 && before + length > MAX_LENGTH) {
        return false;
      }
    } while (!LENGTH.compareAndSet(before, before + length));
    return true;
  }

  /** Counts out what was counted in. */
  static void release(int length) {
    LENGTH.addAndGet(-length);
  }
}
