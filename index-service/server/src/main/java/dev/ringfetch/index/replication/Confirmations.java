package dev.ringfetch.index.replication;

/**
 * The read barriers of a leader: all barriers that come while a question is under way share the
 * next one.
 *
 * <p>Used by the replica's owner alone.
 */
final class Confirmations {
  /** Limit of the time of a barrier; then it is refused, and its callers ask again. */
  static final long LIMIT_NS = 1_000_000_000;

  private Confirmation waiting; // have no question yet
  private Confirmation asked;
  private Confirmation answered;
  private long question;
  private long waitingNs; // since when the first one waits
  private long askedNs; // since when the first one of those asked waits

  /** Adds a chain of barriers. */
  void add(Confirmation chain, long nowNs) {
    waitingNs = waiting == null ? nowNs : waitingNs;
    Confirmation next = chain;
    while (next != null) {
      final Confirmation one = next;
      next = one.following;
      one.following = waiting;
      waiting = one;
    }
  }

  /** The number of the open question; 0 if there is none. */
  long question() {
    return asked == null ? 0 : question;
  }

  /** The number of the last question. */
  long last() {
    return question;
  }

  /** Whether no barrier waits for an answer. */
  boolean isEmpty() {
    return asked == null && waiting == null;
  }

  /** Asks the next question if barriers wait and no question is under way. */
  void ask() {
    if (asked == null && waiting != null) {
      asked = waiting;
      askedNs = waitingNs;
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

  /** Refuses barriers that have waited for too long, for example while no epoch is established. */
  void expire(long nowNs) {
    if (asked != null && nowNs - askedNs > LIMIT_NS) {
      answer(asked, false);
      asked = null;
    }
    if (waiting != null && nowNs - waitingNs > LIMIT_NS) {
      answer(waiting, false);
      waiting = null;
    }
  }

  /** Refuses all barriers: the replica no longer leads. */
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
