package dev.ringfetch.session.poller;

import dev.ringfetch.counters.Counter;

/**
 * The interface of a session for its {@link Poller}. The poller's thread calls all methods, except
 * for {@link #earliestDeadlineNs} and {@link #count}, which any thread may call.
 */
public interface PolledSession {
  /** {@link #service} found the session owned by another thread, which polls it. */
  int NOT_OWNER = -1;

  /** Starts to handle the events of the poller's doorbell. */
  void bind();

  /**
   * Serves the session: does one round, and delivers its notifications.
   *
   * @param shared whether the thread polls other sessions, too: their pending faults must be thrown
   *     before this session is changed, and are thrown from here.
   * @return how much was done, or {@link #NOT_OWNER}.
   */
  int service(boolean shared);

  /**
   * Called when the poller wants to stop polling.
   *
   * @return false when it must not, because there is work that no other thread would do.
   */
  boolean retire();

  /**
   * Ends the session if its memory is gone. Called outside of all sessions: if the thread holds
   * this session's token nevertheless, the fault was thrown on the way to its release.
   *
   * @return true when this session's memory is gone.
   */
  boolean probe();

  /**
   * Recovers a token that was left with the poller's thread, after an alarm. The round that follows
   * completes the interrupted work.
   */
  void recover();

  /** Ends the session. */
  void end(String reason);

  /** The earliest deadline, as of the owner's last release. Any thread. */
  long earliestDeadlineNs();

  /** The name of the session, for messages. */
  String label();

  /** The state of one of the session's counters. Any thread. */
  long count(Counter counter);
}
