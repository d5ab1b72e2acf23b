package dev.ringfetch.session.poller;

/** An element of a {@link DeadlineQueue}: has a deadline, and knows its place in the queue. */
public abstract class Dated {
  /** No deadline. */
  public static final long NO_DEADLINE = Long.MAX_VALUE;

  /** In terms of the session's clock; does not change while this is in the queue. */
  public long deadlineNs = NO_DEADLINE;

  public int deadlineIndex = DeadlineQueue.ABSENT;
}
