package dev.ringfetch.session;

import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.session.owner.OwnedBy;

/**
 * The windows of a session's flows: handles the peer's updates, sends this side's, and limits how
 * much they all may grow together.
 */
@OwnedBy("session")
final class Windows {
  private static final long MAX_GROWN = 64L * 1024 * 1024; // bytes

  private final Outbox outbox;
  private long grown; // bytes

  Windows(Outbox outbox) {
    this.outbox = outbox;
  }

  /** Handles a window update for a stream. False when it is invalid. */
  boolean onUpdate(Stream stream, MemoryRegion region, int offset, int length) {
    if (stream.flow == null || (length != Long.BYTES && length != Outbox.MAX_UPDATE_LENGTH)) {
      return false;
    }
    final int window = length == Long.BYTES ? 0 : region.getInt(offset + Long.BYTES);
    if (!stream.flow.onUpdate(region.getLong(offset), window)) {
      return false;
    }
    outbox.addNext(stream);
    return true;
  }

  /**
   * Called when the call of a flow has consumed messages; tells the peer when that is worth a
   * frame.
   *
   * @return bytes that are not kept any more.
   */
  long update(Stream stream) {
    final Flow flow = stream.flow;
    final long released = flow.release();
    grown += flow.grow(MAX_GROWN - grown);
    if (flow.isUpdateUseful()) {
      flow.updateDue = true;
      outbox.add(stream);
    }
    return released;
  }

  /** Returns the window of a flow that has ended. Once for each. */
  void close(Stream stream) {
    grown -= stream.flow.grown();
  }
}
