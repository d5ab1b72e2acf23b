package dev.ringfetch.index.replication;

import org.jspecify.annotations.Nullable;

/**
 * The output of a replica's cycles that its owner gives to others afterwards: a request to the
 * coordinator, answered barriers, and whether the status is another one.
 *
 * <p>The replica's owner only.
 */
final class ReplicaOutput {
  private @Nullable Proposal request; // null: none is to be made
  private boolean isRequesting; // until it is answered
  private @Nullable Confirmation answered; // null: none is to be told
  private boolean isChanged = true; // others have to see it
  private ReplicaState shownState = ReplicaState.NONE;
  private @Nullable SnapshotTransfer shownTransfer;
  private long shownNs;

  ReplicaOutput(long nowNs) {
    shownNs = nowNs;
  }

  /** Makes a request; its answer ends it. */
  void request(Proposal made) {
    isRequesting = true;
    request = made;
  }

  /** Whether a request was made that is not answered yet. */
  boolean isRequesting() {
    return isRequesting;
  }

  /** Takes the answer of the request. */
  void onRequestAnswered() {
    isRequesting = false;
  }

  /** Takes the request that is to be made; null if there is none. */
  @Nullable Proposal takeRequest() {
    final Proposal taken = request;
    request = null;
    return taken;
  }

  /** Adds barriers that are answered. */
  void answer(Confirmations confirmations) {
    Confirmation next = confirmations.takeAnswered();
    while (next != null) {
      final Confirmation one = next;
      next = one.following;
      one.following = answered;
      answered = one;
    }
  }

  /** Takes the chain of the barriers that are answered; null if there are none. */
  @Nullable Confirmation takeAnswered() {
    final Confirmation chain = answered;
    answered = null;
    return chain;
  }

  /** Notes that something has changed that others look at. */
  void change() {
    isChanged = true;
  }

  /** Whether something has changed that others look at, or they have to look again. */
  boolean takeChanged(ReplicaState state, @Nullable SnapshotTransfer transfer, long nowNs) {
    final boolean taken =
        isChanged
            || state != shownState
            || transfer != shownTransfer
            || nowNs - shownNs >= ReplicaContext.Limits.HEARTBEAT_NS;
    if (taken) {
      isChanged = false;
      shownState = state;
      shownTransfer = transfer;
      shownNs = nowNs;
    }
    return taken;
  }
}
