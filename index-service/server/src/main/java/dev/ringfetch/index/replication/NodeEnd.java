package dev.ringfetch.index.replication;

/**
 * The progress of the orderly end of a replica's node.
 *
 * <pre>
 *  state       what the replica does                             next
 *  GOES_ON     the node does not end                             HANDS_OVER, STOPS
 *  HANDS_OVER  has another member lead, if it leads itself       STOPS
 *  STOPS       leads on if it does, until it is told to end      -
 * </pre>
 *
 * <p>The replica's owner only.
 */
final class NodeEnd {
  private enum State {
    GOES_ON,
    HANDS_OVER,
    STOPS
  }

  private State state = State.GOES_ON;

  /** The node begins to end, unless it has. */
  void begin() {
    if (state == State.GOES_ON) {
      state = State.HANDS_OVER;
    }
  }

  /** Nothing is handed over any more. */
  void endHandOver() {
    state = State.STOPS;
  }

  /** Whether the node has begun to end: the replica takes nothing over alone. */
  boolean hasBegun() {
    return state != State.GOES_ON;
  }

  /** Whether a leader is to hand over. */
  boolean handsOver() {
    return state == State.HANDS_OVER;
  }
}
