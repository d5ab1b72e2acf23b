package dev.ringfetch.index.replication;

/**
 * The state of a member in an epoch, as its leader knows it.
 *
 * <pre>
 *  state        the leader                                    next
 *  UNKNOWN      asks the member to obey                       REPLICATING, FAILED
 *  PROBING      asks an obeying member which records it has   REPLICATING, FAILED
 *  REPLICATING  sends or places records                       PROBING, FAILED
 *  FAILED       counts the member no more                     -
 * </pre>
 */
enum MemberState {
  /**
   * It has not answered with the gate of this epoch, and may have records that the leader lacks.
   */
  UNKNOWN,
  /** It obeys. The messages, or the path, by which it got records have ended. */
  PROBING,
  /** It obeys, and gets the records behind those that it has. */
  REPLICATING,
  /** It has lost records that it had, or tells of records that do not exist. */
  FAILED;

  /** Whether a state may follow this one. */
  boolean allows(MemberState next) {
    return switch (this) {
      case UNKNOWN, PROBING -> next == REPLICATING || next == FAILED;
      case REPLICATING -> next == PROBING || next == FAILED;
      case FAILED -> false;
    };
  }
}
