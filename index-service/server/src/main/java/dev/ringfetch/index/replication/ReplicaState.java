package dev.ringfetch.index.replication;

/**
 * The state of a replica in its group.
 *
 * <pre>
 *  state     what it is                              next
 *  NONE      no member, and has no records           JOINING, MEMBER, STOPPED
 *  JOINING   gets a snapshot, and the records since  JOINING, MEMBER, NONE, STOPPED
 *  MEMBER    obeys a leader                          WINNING, ADOPTING, JOINING, NONE, STOPPED
 *  WINNING   has proposed itself, and obeys          MEMBER, ADOPTING, JOINING, NONE, STOPPED
 *  ADOPTING  has won, and tells the members          ADOPTING, MEMBER, LEADING, JOINING, NONE, STOPPED
 *  LEADING   its store serves                        NONE, STOPPED
 *  STOPPED   was closed                              -
 * </pre>
 */
public enum ReplicaState {
  /** No member: it has no records. */
  NONE,
  /** It gets a snapshot, and the records that come since. */
  JOINING,
  /** It obeys a leader. */
  MEMBER,
  /** It obeys, and has proposed itself as leader. */
  WINNING,
  /** It has won an epoch and tells the members. */
  ADOPTING,
  /** Its store serves. */
  LEADING,
  /** It was closed. */
  STOPPED;

  /** Whether this one may follow. */
  boolean allows(ReplicaState next) {
    return switch (this) {
      case NONE -> next == JOINING || next == MEMBER || next == STOPPED;
      case JOINING -> next == JOINING || next == MEMBER || next == NONE || next == STOPPED;
      case MEMBER -> next != MEMBER && next != LEADING;
      case WINNING -> next != WINNING && next != LEADING;
      case ADOPTING -> next != WINNING;
      case LEADING -> next == NONE || next == STOPPED;
      case STOPPED -> false;
    };
  }

  /** Whether the replica leads an epoch, or has won it. */
  boolean isLeader() {
    return this == ADOPTING || this == LEADING;
  }

  /** Whether the replica takes the records of a leader. */
  boolean isFollower() {
    return this == JOINING || this == MEMBER || this == WINNING;
  }
}
