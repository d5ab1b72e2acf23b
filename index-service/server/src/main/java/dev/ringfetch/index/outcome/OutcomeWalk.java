package dev.ringfetch.index.outcome;

import java.util.ArrayList;
import java.util.List;

/**
 * A walk over the kept outcomes of a partition. The owner advances it in bounded steps, and writes
 * between the steps. Each outcome that is needed during the whole walk comes at least once, in a
 * state of some moment of the walk; it may come again.
 *
 * <p>The position of a walk is a hash, so growth or shrinking of the table does not affect it.
 *
 * <p>The owner advances it; its user reads the outcomes and clears them between two steps.
 */
public final class OutcomeWalk {
  /** Bytes of outcomes that end a step. */
  static final int STEP_BYTES = 20 << 10;

  /** Bytes of the record of an outcome without an answer. */
  static final int RECORD_BYTES = 72;

  /** Places of the table that end a step, even if they have few outcomes. */
  static final int STEP_PLACES = 4096;

  /** Upper bound of hashes. */
  static final long END = 1L << Integer.SIZE;

  private final List<KeptOutcome> outcomes = new ArrayList<>();

  /** The smallest hash of the next step. */
  long next;

  /** Bytes of the outcomes of the last step, about. */
  private int bytes;

  /** Begins a walk. */
  public OutcomeWalk() {}

  /** The outcomes of the last step, in no order. */
  public List<KeptOutcome> outcomes() {
    return outcomes;
  }

  /** Adds an outcome to the step. */
  void add(KeptOutcome outcome) {
    outcomes.add(outcome);
    bytes += RECORD_BYTES + outcome.answer().size();
  }

  /** Whether the step may go on. */
  boolean hasRoom() {
    return bytes < STEP_BYTES;
  }

  /** Whether the walk is at its end. */
  public boolean isDone() {
    return next >= END;
  }

  /** Forgets the outcomes of the last step. */
  public void clear() {
    outcomes.clear();
    bytes = 0;
  }
}
