package dev.ringfetch.session;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.fabric.MemoryFaults;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.session.owner.OwnedBy;
import dev.ringfetch.session.poller.Callbacks;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The end of a session: any thread gives a reason, the first one counts, and an owner ends the
 * session. In an orderly end, committed frames are taken in first; after a failure, nothing that
 * came in is trusted. Either way every stream is told, once.
 */
final class Ending {
  private static final String NO_MEMORY = "session failed: no memory to serve it in";

  /** The life of a session. Any thread makes the end due; an owner, or the poller, ends it. */
  enum State {
    /** There is no reason to end. */
    OPEN,
    /** An owner has to end the session. */
    DUE,
    /** The poller has to end the session, because another thread could not. */
    DOOMED,
    /** The session has ended: this side does not use its memory any more. Final. */
    OVER;

    /**
     * Returns the next state.
     *
     * @throws IllegalStateException when that state does not follow on this one.
     */
    State to(State next) {
      if (!leadsTo(next)) {
        throw new IllegalStateException("from=" + this + ", to=" + next);
      }
      return next;
    }

    /** Without a switch, whose class would allocate at its first use: here memory may be out. */
    private boolean leadsTo(State next) {
      return (this == OPEN && next == DUE)
          || (this == DUE && (next == DOOMED || next == OVER))
          || (this == DOOMED && (next == DUE || next == OVER));
    }
  }

  private final Session session;
  private final MemoryRegion memory;
  private final AtomicReference<String> reason = new AtomicReference<>();

  private long unconsumed; // slots
  private volatile boolean peerAtFault;
  private final AtomicReference<State> state =
      new AtomicReference<>(State.OPEN); // after the reason

  Ending(Session session) {
    this.session = session;
    this.memory = session.queuePair.memory();
  }

  /** The reason of the end; null while the session does not end. */
  @Nullable String reason() {
    return reason.get();
  }

  /** True when an owner has to end the session. */
  boolean isDue() {
    return reason.get() != null && state.get() != State.OVER;
  }

  /** True when the session has ended, and this side does not use its memory any more. */
  boolean isOver() {
    return state.get() == State.OVER;
  }

  /** True when the poller must end the session, because another thread could not. */
  boolean isPollers() {
    return state.get() == State.DOOMED;
  }

  /** True when the session ended because the peer broke a rule. */
  boolean isPeerAtFault() {
    return peerAtFault;
  }

  /** Slots with frames that the peer had not consumed at the end. */
  @OwnedBy("session")
  long unconsumed() {
    return unconsumed;
  }

  /** Ends the session with this round; owner, or before {@link SessionDriver#drive}. */
  void request(String why) {
    reason.compareAndSet(null, why);
    tryMove(State.OPEN, State.DUE); // also where another thread has given the reason just now
  }

  /** Moves to the next state, unless another thread has left the one before. */
  private void tryMove(State from, State next) {
    if (state.get() == from) {
      state.compareAndSet(from, from.to(next));
    }
  }

  private void becomeOver() {
    tryMove(State.OPEN, State.DUE); // the thread with the reason may not have come to it yet
    State now;
    do {
      now = state.get();
    } while (!state.compareAndSet(now, now.to(State.OVER)));
  }

  /** As {@link #request}, because the peer broke a rule. */
  void blame(String why) {
    peerAtFault = true;
    request(why);
  }

  /** Ends the session on the poller's thread, because the peer broke a rule. Any thread. */
  void blameLater(String why) {
    blame(why);
    session.poller.activateLater(session.entry);
  }

  /** See {@link Session#doom}. */
  void doom() {
    request(NO_MEMORY);
    tryMove(State.DUE, State.DOOMED);
    session.poller.alarm();
  }

  /**
   * Called by the poller for each session after an alarm, as it may have been doomed.
   *
   * @param abandoned whether a thread left its token behind, in the middle of its work.
   */
  void recover(boolean abandoned) {
    tryMove(State.DOOMED, State.DUE);
    if (abandoned) {
      request(NO_MEMORY);
    }
  }

  /**
   * Ends the session as its owner: takes in committed frames first, then tells the other streams.
   */
  void end() {
    session.inbox.drain();
    session.reads.drain();
    session.reads.forEachReader(session::onReadLost);
    unconsumed = session.writer.unconsumed();
    memory.verify();
    finish();
  }

  /**
   * Ends the session. The JVM throws a fault of memory late, at the return of a method or the end
   * of a loop's iteration, and the compiler inlines. So callers of methods that access the memory
   * catch it, too, although these methods catch it. Otherwise the token would not be released.
   */
  @OwnedBy("session")
  void failed(Throwable t) {
    try {
      endFailed(t);
    } catch (Throwable again) {
      doom();
    }
  }

  private void endFailed(Throwable t) {
    MemoryFaults.absorb(memory, t);
    if (isOver()) {
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
        stream -> { // nothing else tells a call that its last unit will not be read
          if (stream.flow != null) {
            stream.flow.distrust();
            notifications.addFlow(stream);
          }
        });
    notifications.distrustFlows();
    finish();
  }

  /** Finishes the end. Called again if it throws for lack of memory; no step is done twice. */
  private void finish() {
    session.memoryGuard.forget();
    session.bulk.refuse(); // memory that the peer may still read is not given out again
    session.outbox.clear();
    session.reads.clear();
    session.onEnd();
    session.bulk.close();
    session.exchange.close();
    if (peerAtFault) {
      session.tally.set(Counter.SESSION_FAULTS_PEER, 1);
    }
    session.notifications.add(this::tell);
    becomeOver();
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
