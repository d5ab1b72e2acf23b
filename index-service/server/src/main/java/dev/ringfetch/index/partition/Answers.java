package dev.ringfetch.index.partition;

import org.jspecify.annotations.Nullable;

/**
 * The answers that a cycle has found, in their order. Intrusive, so it allocates nothing.
 *
 * <p>Used by the owner alone.
 */
final class Answers {
  private @Nullable Submission first; // null if there is none
  private @Nullable Submission last;

  /** Ends a submission. */
  void add(Submission submission, int outcome) {
    submission.answered(outcome);
    if (first == null) {
      first = submission;
    } else {
      last.next = submission;
    }
    last = submission;
  }

  /** Replaces all outcomes. */
  void replace(int outcome) {
    for (Submission answer = first; answer != null; answer = answer.next) {
      answer.answered(outcome);
    }
  }

  /** Takes the chain of the answers; null if there is none. */
  @Nullable Submission takeAll() {
    final Submission taken = first;
    first = null;
    last = null;
    return taken;
  }
}
