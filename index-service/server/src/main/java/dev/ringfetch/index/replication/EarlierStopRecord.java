package dev.ringfetch.index.replication;

import dev.ringfetch.index.log.GroupRecovery;
import dev.ringfetch.index.v1.Configuration;
import org.jspecify.annotations.Nullable;

/**
 * The record of an earlier process's orderly stop in a replica's directory, if there is one. It may
 * count until the group continues without it; then it has to be removed.
 *
 * <p>The replica's owner only.
 */
final class EarlierStopRecord {
  private enum State {
    /** The record may count. */
    KEPT,
    /** The record is void, and has to be removed. */
    VOID,
    /** There is no record: the replica may serve. */
    GONE
  }

  private final @Nullable GroupRecovery recovery; // null if the replica began without records
  private final boolean isAlone;
  private State state;

  /**
   * Creates what stands for the record.
   *
   * @param recovery what an earlier process has left; null: nothing
   * @param isAlone whether there never is another node
   */
  EarlierStopRecord(@Nullable GroupRecovery recovery, boolean isAlone) {
    this.recovery = recovery;
    this.isAlone = isAlone;
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

  /**
   * This replica has won. Where it is alone, nobody else can go on with the record: it goes before
   * the configuration is established. So a record is of the established process as long as none has
   * served since.
   */
  void onWon() {
    if (state == State.KEPT && isAlone) {
      state = State.VOID;
    }
  }

  /** Whether the configuration that was won may be established. */
  boolean mayEstablish() {
    return !isAlone || state == State.GONE;
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
