package dev.ringfetch.index.replication;

/**
 * The read barriers of a leader: all that come while a question is under way share the next one.
 *
 * <p>The replica's owner only.
 */
final class Confirmations {
  private Confirmation waiting; // have no question yet
  private Confirmation asked;
  private Confirmation answered;
  private long question;

  /** Adds a chain of barriers. */
  void add(Confirmation chain) {
    Confirmation next = chain;
    while (next != null) {
      final Confirmation one = next;
      next = one.following;
      one.following = waiting;
      waiting = one;
    }
  }

  /** The question that is to be answered; 0 if there is none. */
  long question() {
    return asked == null ? 0 : question;
  }

  /** Asks the next question if none is under way and there is a need. */
  void ask() {
    if (asked == null && waiting != null) {
      asked = waiting;
      waiting = null;
      question++;
    }
  }

  /** Asks again: what was answered in an earlier epoch does not count. */
  void askAgain() {
    question += asked == null ? 0 : 1;
  }

  /** Answers those that wait for the question that was asked. */
  void confirm() {
    answer(asked, true);
    asked = null;
  }

  /** Answers all that the replica leads no more. */
  void refuse() {
    answer(asked, false);
    answer(waiting, false);
    asked = null;
    waiting = null;
  }

  private void answer(Confirmation chain, boolean confirmed) {
    Confirmation next = chain;
    while (next != null) {
      final Confirmation one = next;
      next = one.following;
      one.confirmed = confirmed;
      one.following = answered;
      answered = one;
    }
  }

  /** Takes the chain of those that are answered. */
  Confirmation takeAnswered() {
    final Confirmation chain = answered;
    answered = null;
    return chain;
  }
}
