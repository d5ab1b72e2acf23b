package dev.ringfetch.session;

import dev.ringfetch.fabric.HeapFabric;
import dev.ringfetch.session.bulk.BulkOwner;
import dev.ringfetch.session.poller.Poller;
import dev.ringfetch.session.poller.PollerEntry;

/** The way of tests in other packages to what a session shows its own package only. */
public final class SessionAccess {
  private SessionAccess() {}

  /** The session's entry with its poller. */
  public static PollerEntry entry(Session session) {
    return session.entry;
  }

  /** The session as the owner of registered memory. */
  public static BulkOwner bulkOwner(Session session) {
    return new SessionMemory(session);
  }

  /** A session without calls. */
  public static Session counting(HeapFabric fabric, Poller poller, SessionContext context) {
    return new CountingSession(fabric, poller, context);
  }
}
