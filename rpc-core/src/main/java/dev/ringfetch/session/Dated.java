package dev.ringfetch.session;

/** What has a deadline, and knows its place in a {@link DeadlineQueue}. */
abstract class Dated {
  /** In terms of the session's clock; does not change while this is in the queue. */
  long deadlineNs = Stream.NO_DEADLINE;

  int deadlineIndex = DeadlineQueue.ABSENT;
}
