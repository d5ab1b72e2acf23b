package dev.ringfetch.index.replication;

import dev.ringfetch.index.log.GroupRecovery;
import dev.ringfetch.index.v1.Configuration;

/**
 * The record that an earlier process of a replica's directory has left of its orderly stop, if
 * there is one: it may count, until the group goes on without it; then it is to be removed.
 *
 * <p>The replica's owner only.
 */
final class EarlierStopRecord {
  private enum State {
    /** It may count. */
    KEPT,
    /** It counts nowhere any more, and is to be removed. */
    VOID,
    /** There is none: the replica may serve. */
    GONE
  }

  private final GroupRecovery recovery; // null: the replica began with nothing
  private State state;

  /**
   * Creates what stands for the record.
   *
   * @param recovery what an earlier process has left; null: nothing
   */
  EarlierStopRecord(GroupRecovery recovery) {
    this.recovery = recovery;
    state = recovery == null || recovery.processes().isEmpty() ? State.GONE : State.KEPT;
  }

  /**
   * A configuration is established: after that which the record's process obeyed, and without it as
   * a member, it makes the record void, unless the group may have to go on with that.
   *
   * @param isGone whether no member of the configuration is announced
   */
  void onEstablished(Configuration established, boolean isGone) {
    if (state == State.KEPT
        && !isGone
        && established.getEpoch() > recovery.gate()
        && recovery.processes().stream().noneMatch(established.getMembersList()::contains)) {
      state = State.VOID;
    }
  }

  /** It is removed. */
  void onRemoved() {
    state = State.GONE;
  }

  /** Whether it may count. */
  boolean mayCount() {
    return state == State.KEPT;
  }

  /** Whether it is to be removed. */
  boolean isVoid() {
    return state == State.VOID;
  }

  /** Whether there is none. */
  boolean isGone() {
    return state == State.GONE;
  }
}
