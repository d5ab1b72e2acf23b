package dev.ringfetch.session.poller;

import dev.ringfetch.fabric.MemoryFaults;
import dev.ringfetch.session.owner.OwnedBy;
import java.util.function.Consumer;
import org.agrona.concurrent.NanoClock;

/**
 * The faults of memory that a poller has met outside of the session that they belong to, because
 * the JVM throws them late: finds that session and ends it.
 */
@OwnedBy("driver")
final class PollerFaults {
  private static final int MAX_FAULTS = 1_000;
  private static final long INTERVAL_NS = 1_000_000_000;

  private final PolledSessions sessions;
  private final Consumer<PollerEntry> activate;
  private final NanoClock clock;

  private Throwable suspected; // a fault that did not belong to the session in which it was thrown
  private int faults; // in the interval, without a session at fault
  private long sinceNs;

  /**
   * Creates the record of the faults in these sessions.
   *
   * @param activate has a session polled for a while.
   */
  PollerFaults(PolledSessions sessions, Consumer<PollerEntry> activate, NanoClock clock) {
    this.sessions = sessions;
    this.activate = activate;
    this.clock = clock;
  }

  /** Called when a fault was thrown in a session with intact memory: it belongs to another one. */
  void suspect(Throwable fault) {
    suspected = fault;
  }

  /**
   * Provokes a pending fault of polls that found nothing: sessions verify only after they have
   * found something, and otherwise the fault would be thrown in the next work of this thread.
   */
  void verify() {
    if (suspected != null) {
      final InternalError fault = new InternalError("a fault of another session", suspected);
      suspected = null;
      throw fault;
    }
    if (sessions.size() > 0) {
      sessions.get(0).memory.verify();
    }
  }

  /**
   * Finds and ends the session of a late fault, which was thrown outside of any session because a
   * peer has truncated its memory. Most often that session has already ended by itself; then none
   * is found.
   */
  void end(InternalError fault) {
    if (sessions.size() > 0) {
      MemoryFaults.absorb(sessions.get(0).memory, fault);
    }
    boolean found = false;
    for (final PollerEntry entry : sessions.copy()) {
      found |= entry.session.probe();
      activate.accept(entry); // a thread that found it owned relies on the owner to look
    }
    final long now = clock.nanoTime();
    if (now - sinceNs >= INTERVAL_NS) {
      sinceNs = now;
      faults = 0;
    }
    if (!found && ++faults > MAX_FAULTS) {
      throw fault; // not caused by a peer
    }
  }
}
