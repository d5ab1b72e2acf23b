package dev.ringfetch.session;

import dev.ringfetch.fabric.MemoryFaults;
import dev.ringfetch.fabric.MemoryRegion;

/**
 * Notices that a peer has taken away memory that a session uses, before anything else is done and
 * anybody is told: accesses that fail do so late, somewhere in the thread. Belongs to the owner of
 * the session.
 */
final class MemoryGuard {
  private final Session session;
  private final MemoryRegion memory;

  private boolean touched; // the memory, since it was verified

  @SuppressWarnings("unused") // keeps the loads of a probe alive
  private long probed;

  MemoryGuard(Session session) {
    this.session = session;
    this.memory = session.queuePair.memory();
  }

  /** The memory was accessed, or is about to be: {@link #verifyTouched} verifies. */
  void touch() {
    touched = true;
  }

  /** Whatever was touched is nobody's concern any more: the session has ended. */
  void forget() {
    touched = false;
  }

  /** After polls that have found nothing: nobody else looks after this thread. */
  void verify() {
    touched = true;
    verifyTouched();
  }

  /**
   * Has a fault come up here, if there was one, and ends the session if it was of its memory. The
   * access may have been to another session's; then what this one has read is sound.
   *
   * <p>Called within the {@code try} that ends before the token is let go: the error may come up as
   * soon as the next method is entered.
   */
  void verifyTouched() {
    if (touched) {
      touched = false;
      try {
        memory.verify();
      } catch (Throwable t) {
        MemoryFaults.absorb(memory, t);
        if (isMemoryGone()) {
          session.ending.failed(t);
        } else {
          session.poller.suspect(t);
        }
      }
    }
  }

  private boolean isMemoryGone() {
    try {
      probe();
      return false;
    } catch (InternalError e) {
      return true;
    }
  }

  /** Loads from every page of the session's memory, and throws if one is gone. */
  void probe() {
    probed = MemoryFaults.touch(memory);
    for (final MemoryRegion region : session.exchange.regions()) {
      probed += MemoryFaults.touch(region);
    }
    probed += session.bulk.touch();
  }
}
