package dev.ringfetch.session;

import dev.ringfetch.fabric.MemoryFaults;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.session.bulk.AttachedMemory;
import dev.ringfetch.session.owner.OwnedBy;

/**
 * The check that a peer has not taken away memory that a session uses, before the data is used and
 * notifications are sent: the JVM reports failed accesses late, anywhere in the thread.
 */
@OwnedBy("session")
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

  /** Notes an access of the memory, so that {@link #verifyTouched} verifies. */
  void touch() {
    touched = true;
  }

  /** Forgets accesses, because the session has ended. */
  void forget() {
    touched = false;
  }

  /** Verifies after polls that have found nothing, on threads that no poller verifies. */
  void verify() {
    touched = true;
    verifyTouched();
  }

  /**
   * Provokes a pending fault here, and ends the session if its own memory is gone. The access may
   * have been to another session's memory; then the data of this one is sound.
   *
   * <p>Called within the {@code try} that ends before the token is released: the error may be
   * thrown as soon as the next method is entered.
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
    for (final AttachedMemory attached : session.exchange.attached()) {
      if (attached.region() != null) {
        probed += MemoryFaults.touch(attached.region());
      }
    }
    probed += session.bulk.touch();
  }
}
