package dev.ringfetch.session.carrier;

import dev.ringfetch.session.owner.OwnedBy;
import dev.ringfetch.session.poller.Dated;
import dev.ringfetch.session.poller.Timetable;
import org.jspecify.annotations.Nullable;

/**
 * The strategy for moving frames between the two sides of a session over one kind of fabric, with
 * the additional work of this side beside reading and writing.
 *
 * <p>The default methods do nothing, for fabrics that do not need them.
 */
@OwnedBy("session")
public abstract class Carrier {
  private final Inbox inbox;
  private final Delivery delivery;
  private final boolean armsAtOnce;

  /**
   * Creates the carrier.
   *
   * @param armsAtOnce whether the peer knows as soon as this side has stored that it sleeps.
   */
  protected Carrier(Inbox inbox, Delivery delivery, boolean armsAtOnce) {
    this.inbox = inbox;
    this.delivery = delivery;
    this.armsAtOnce = armsAtOnce;
  }

  /** This side's end of the ring that the peer writes. */
  public final Inbox inbox() {
    return inbox;
  }

  /** The delivery of the data that this side has written. */
  public final Delivery delivery() {
    return delivery;
  }

  /**
   * True where both sides load and store one memory: the peer knows as soon as this side has stored
   * that it sleeps, so that any thread can arm the session. Otherwise that takes the poller some
   * time.
   */
  public final boolean armsAtOnce() {
    return armsAtOnce;
  }

  /** The times at which this side may send. */
  public SendingTurn turn() {
    return SendingTurn.ALWAYS;
  }

  /** The timetable that the session is in, if there is one. */
  public @Nullable Timetable timetable() {
    return null;
  }

  /** Called when the peer has rung. Any thread. */
  public void onRing() {}

  /** The time of the next {@link #look} that is due; {@link Dated#NO_DEADLINE} without one. */
  public long lookDueNs() {
    return Dated.NO_DEADLINE;
  }

  /** Looks whether the memory is sound, if that is due. */
  public void look() {}

  /** Does the server's work in every round. */
  public void onRound() {}

  /** Called when the last byte of a unary request was written. */
  public void onRequestSent(int streamId) {}

  /**
   * Called when a stream was closed by the server.
   *
   * @param answer whether it was the one answer of a unary call.
   * @param code of the last unit.
   * @param length of the last unit, in bytes.
   */
  public void onClosed(int streamId, boolean answer, int code, int length) {}

  /** The time at which a request is handed to its call, if the client wants to know; else 0. */
  public long handedNs() {
    return 0;
  }

  /** The code of an answer to a request that was handed to its call at this time. */
  public int answerCode(int status, long handedNs) {
    return status;
  }
}
