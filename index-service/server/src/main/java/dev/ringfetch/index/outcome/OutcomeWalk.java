package dev.ringfetch.index.outcome;

import java.util.ArrayList;
import java.util.List;

/**
 * A walk over the outcomes that a partition keeps, which its owner takes on in bounded steps while
 * it goes on to write between them. Each outcome that is needed from the begin of the walk to its
 * end comes at least once, as it was at some moment of the walk; it may come again.
 *
 * <p>The place of a walk is a hash, so a table that grows or shrinks meanwhile does not move it.
 *
 * <p>The owner steps it; its user reads the outcomes and clears them between two steps.
 */
public final class OutcomeWalk {
  /** Outcomes after which a step ends: about 20 KiB of records. */
  static final int STEP_OUTCOMES = 256;

  /** Places of the table that a step looks at, however few outcomes they have. */
  static final int STEP_PLACES = 4096;

  /** All hashes are less. */
  static final long END = 1L << Integer.SIZE;

  private final List<KeptOutcome> outcomes = new ArrayList<>();

  /** The smallest hash of the next step. */
  long next;

  /** Begins a walk. */
  public OutcomeWalk() {}

  /** The outcomes of the last step, in no order. */
  public List<KeptOutcome> outcomes() {
    return outcomes;
  }

  /** Whether no outcome is left for another step. */
  public boolean isDone() {
    return next >= END;
  }

  /** Forgets the outcomes of the last step. */
  public void clear() {
    outcomes.clear();
  }
}
