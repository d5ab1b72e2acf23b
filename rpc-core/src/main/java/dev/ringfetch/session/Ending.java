package dev.ringfetch.session;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.fabric.MemoryFaults;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.session.poller.Callbacks;
import java.util.concurrent.atomic.AtomicReference;

/**
 * How a session ends: any thread says why, the first reason counts, and an owner brings it about.
 * In order, what is committed is taken in first; after a failure, nothing is believed that came in.
 * Either way every stream is told, once.
 */
final class Ending {
  private static final String NO_MEMORY = "session failed: no memory to serve it in";

  private final Session session;
  private final MemoryRegion memory;
  private final AtomicReference<String> reason = new AtomicReference<>();

  private long unconsumed; // slots
  private volatile boolean peerAtFault;
  private volatile boolean over;
  private volatile boolean doomed; // it could not even be ended: the poller does

  Ending(Session session) {
    this.session = session;
    this.memory = session.queuePair.memory();
  }

  /** Why the session ends or has ended; null while it does not. */
  String reason() {
    return reason.get();
  }

  /** True when an owner has to end the session. */
  boolean isDue() {
    return reason.get() != null && !over;
  }

  /** True when the session has ended, and this side is out of its memory. */
  boolean isOver() {
    return over;
  }

  /** True when the poller must end the session, because another thread could not. */
  boolean isPollers() {
    return doomed && !over;
  }

  /** True when the session ended by what no peer does that is in order. */
  boolean isPeerAtFault() {
    return peerAtFault;
  }

  /** Slots with frames that the peer had not consumed at the end; owner. */
  long unconsumed() {
    return unconsumed;
  }

  /** Lets the session end with this round; owner, or before {@link SessionDriver#drive}. */
  void request(String why) {
    reason.compareAndSet(null, why);
  }

  /** As {@link #request}, because the peer broke a rule. */
  void blame(String why) {
    peerAtFault = true;
    request(why);
  }

  /** Ends the session in the poller's thread, for what the peer has done. Any thread. */
  void blameLater(String why) {
    blame(why);
    session.poller.activateLater(session.entry);
  }

  /** See {@link Session#doom}. */
  void doom() {
    request(NO_MEMORY);
    doomed = true;
    session.poller.alarm();
  }

  /**
   * The poller looks after the session, which may have been doomed.
   *
   * @param abandoned whether its token was left behind, in the midst of something.
   */
  void recover(boolean abandoned) {
    doomed = false;
    if (abandoned) {
      request(NO_MEMORY);
    }
  }

  /** Ends on the owner's side: what is committed first, then the rest is told. */
  void end() {
    session.inbox.drain();
    session.reads.drain();
    unconsumed = session.writer.unconsumed();
    memory.verify();
    finish();
  }

  /**
   * Ends the session; owner. A fault of its memory comes up late, at the return of a method or the
   * end of a loop's round, and the compiler inlines: so whoever calls what touches the memory
   * catches it, though that catches it, too. The token would not be let go otherwise.
   */
  void failed(Throwable t) {
    try {
      endFailed(t);
    } catch (Throwable again) {
      doom();
    }
  }

  private void endFailed(Throwable t) {
    MemoryFaults.absorb(memory, t);
    if (over) {
      Callbacks.report(t);
      return;
    }
    if (t instanceof InternalError) { // it has truncated its file
      peerAtFault = true;
    }
    request("session failed: " + t);
    final Notifications notifications = session.notifications;
    notifications.add(
        () ->
            System.getLogger(Session.class.getName())
                .log(
                    System.Logger.Level.WARNING,
                    "session with " + session.describe() + " failed",
                    t));
    for (Stream stream = notifications.first(); stream != null; stream = stream.nextReady) {
      session.distrust(stream);
    }
    session.reads.forEachReader(
        stream -> { // nothing else tells a call whose last unit will not be read
          if (stream.flow != null) {
            stream.flow.distrust();
            notifications.addFlow(stream);
          }
        });
    notifications.distrustFlows();
    finish();
  }

  /** Where this throws, for want of memory, it is called again: what was done is not done twice. */
  private void finish() {
    session.memoryGuard.forget();
    session.bulk.refuse(); // what the peer may still read is not given out again
    session.outbox.clear();
    session.reads.clear();
    session.onEnd();
    session.bulk.close();
    if (peerAtFault) {
      session.tally.set(Counter.SESSION_FAULTS_PEER, 1);
    }
    session.notifications.add(this::tell);
    over = true;
    session.queuePair.close();
  }

  private void tell() {
    try {
      session.tellEnd(reason.get());
    } finally {
      session.poller.remove(session.entry);
    }
  }
}
