package dev.ringfetch.index.partition;

/**
 * One request to the owner of a partition, from its submission to its answer: a {@link Write}, or
 * an {@link OwnerTask}.
 *
 * <p>A submission belongs to the thread that prepares it, from {@link Partition#submit} on to the
 * partition, and from its answer on to its listener.
 */
public abstract class Submission {
  /** Outcome: the write was carried out, and the answer has its result. */
  public static final int DONE = 0;

  /** Outcome of {@link Partition#submit}: too many writes wait. Nothing was done. */
  public static final int QUEUE_FULL = -1;

  /** Outcome: no memory is left for the entry. Nothing was done; deletes make room. */
  public static final int MEMORY_FULL = -2;

  /**
   * Outcome: the log failed, or the partition was closed, before the commit was known. The write
   * may have been carried out or not.
   */
  public static final int UNKNOWN = -3;

  /** Outcome: the partition takes no writes any more. Nothing was done. */
  public static final int UNAVAILABLE = -4;

  /** Outcome: no version is left. Nothing was done, and no later write will be. */
  public static final int VERSIONS_EXHAUSTED = -5;

  /** Outcome: no block of the store's memory is long enough for the entry. Nothing was done. */
  public static final int TOO_LONG = -6;

  /**
   * Outcome: the index was refused, because its memory was changed by another process, or taken
   * away. A write that was submitted before may have been carried out or not; it is lost anyway.
   */
  public static final int DAMAGED = -7;

  /** Outcome: too many keys hash as the key does, see {@link Write#excess()}. Nothing was done. */
  public static final int TOO_MANY_COLLISIONS = -8;

  /**
   * Outcome: keys that hash as the key does have too many bytes together, see {@link
   * Write#excess()}. Nothing was done.
   */
  public static final int COLLISIONS_TOO_LONG = -9;

  /** Outcome: no room is left in the log. Nothing was done; try again later. */
  public static final int LOG_FULL = -10;

  /** Outcome: a data directory exceeds its quota, and takes no entry. Nothing was done. */
  public static final int OVER_QUOTA = -11;

  /** Outcome: the value of a spatial index begins with no legal box. Nothing was done. */
  public static final int NOT_A_BOX = -12;

  /** Outcome: the index takes no entries but those that are appended. Nothing was done. */
  public static final int NOT_AN_APPEND = -13;

  /**
   * Outcome: the write has a number whose outcome is kept no more, as it is complete, or its client
   * is closed. It may have been carried out before, and was not now.
   */
  public static final int OUTCOME_GONE = -20;

  /** Outcome: too many outcomes are kept. Nothing was done; complete numbers make room. */
  public static final int OUTCOMES_FULL = -21;

  /** Outcome: a write that did something else had the same number. Nothing was done. */
  public static final int NUMBER_REUSED = -22;

  /** Outcome: the entries to be read are longer than an answer may be. Nothing was done. */
  public static final int ANSWER_TOO_LONG = -23;

  private enum State {
    /** New, or answered. */
    IDLE,
    PREPARED,
    SUBMITTED
  }

  private State state = State.IDLE;
  private int outcome;

  // The queue's.
  Submission following;
  int queued;

  /** The next one of a batch, of the dependants of a record, or of the answers. */
  Submission next;

  Submission() {}

  /** The outcome: {@link #DONE}, or one of the negative constants. */
  public final int outcome() {
    return outcome;
  }

  /** Notes that all is known that the owner needs. */
  final void prepared() {
    if (state == State.SUBMITTED) {
      throw new IllegalStateException("state=" + state);
    }
    state = State.PREPARED;
    outcome = DONE;
  }

  final boolean isPrepared() {
    return state == State.PREPARED;
  }

  final void submitted() {
    if (state != State.PREPARED) {
      throw new IllegalStateException("state=" + state);
    }
    state = State.SUBMITTED;
  }

  /** Reverts {@link #submitted}. */
  final void refused() {
    state = State.PREPARED;
  }

  /** Sets the outcome. */
  void answered(int answeredOutcome) {
    outcome = answeredOutcome;
  }

  /** Calls the listener with the answer. */
  final void tell() {
    state = State.IDLE;
    onAnswer();
  }

  abstract void onAnswer();
}
