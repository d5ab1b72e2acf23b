package dev.ringfetch.index.model;

/** A transition system whose states are arrays of longs of one length. */
interface Model {
  /** Returns the initial state. */
  long[] initial();

  /** Gives each successor of a state to {@code sink}; which keeps no reference to its array. */
  void successors(long[] state, Sink sink);

  /** Replaces a state by the one that stands for all that differ from it by a symmetry. */
  void canonical(long[] state);

  /** The receiver of successors. */
  interface Sink {
    /**
     * Takes a successor.
     *
     * @param step kind of the step that leads there
     * @param epoch epoch of the step, 0 for none
     * @param one first argument of the step's text, a process as a rule
     * @param other second argument of the step's text
     * @param violation the property that the step violates, null for none
     */
    void next(long[] state, Step step, int epoch, int one, int other, String violation);
  }
}
