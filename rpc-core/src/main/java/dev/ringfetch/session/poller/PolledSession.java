package dev.ringfetch.session.poller;

import dev.ringfetch.counters.Counter;

/**
 * A session as its {@link Poller} sees it. The poller's thread calls all of this, but for {@link
 * #earliestDeadlineNs} and {@link #count}, which any thread may call.
 */
public interface PolledSession {
  /** {@link #service} found the session owned by another thread. */
  int NOT_OWNER = -1;

  /** Begins to hear the events of the poller's doorbell. */
  void bind();

  /**
   * The poller's visit: one round, and what it brings is told.
   *
   * @param shared whether the thread polls other sessions, too: what they have left behind in it
   *     must come up before this one is changed, and comes out of here.
   * @return how much was done, or {@link #NOT_OWNER}.
   */
  int service(boolean shared);

  /**
   * The poller wants to stop polling.
   *
   * @return false when it must not: there is something to do, or nobody else would.
   */
  boolean retire();

  /**
   * Ends the session if its memory is not there any more. Called where the thread is in no session:
   * if it holds this one's token nevertheless, the fault came up on the way to its release.
   *
   * @return true when it was this one's.
   */
  boolean probe();

  /**
   * Takes back a token that was left with the poller's thread, after an alarm. What was left undone
   * is done in the round that follows.
   */
  void recover();

  /** Ends the session. */
  void end(String reason);

  /** The earliest deadline, as of the owner's last release. Any thread. */
  long earliestDeadlineNs();

  /** Which session it is, for people. */
  String label();

  /** The state of one of the session's counters. Any thread. */
  long count(Counter counter);
}
