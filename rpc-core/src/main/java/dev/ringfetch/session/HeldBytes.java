package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;

import dev.ringfetch.session.owner.OwnedBy;
import dev.ringfetch.session.unit.Unit;
import dev.ringfetch.session.unit.UnitBuffer;

/**
 * The limit of the memory that a client occupies at its server: bytes of long requests and of
 * streams' messages, and cancelled calls that have not been released.
 */
@OwnedBy("session")
final class HeldBytes {
  /** A client with few streams may cancel and call again before handlers learn of the cancel. */
  private static final int MIN_ABANDONED = 64;

  private final long maxLength;
  private final int maxAbandoned;

  private long length;
  private int abandoned;

  /**
   * Creates the count, at zero.
   *
   * @param maxLength limit of the bytes.
   * @param maxStreams calls that may be under way.
   */
  HeldBytes(long maxLength, int maxStreams) {
    this.maxLength = maxLength;
    this.maxAbandoned = Math.max(MIN_ABANDONED, maxStreams);
  }

  /** Bytes that are occupied. */
  long length() {
    return length;
  }

  /** Limit of the bytes. */
  long maxLength() {
    return maxLength;
  }

  /** Cancelled calls that have not been released. */
  int abandoned() {
    return abandoned;
  }

  /** True when so many cancelled calls still run that no other may begin. */
  boolean isCrowded() {
    return abandoned >= maxAbandoned;
  }

  /** Counts the request of a unary call, if it is long. False when it exceeds the limit. */
  boolean addRequest(ServerStream stream) {
    return stream.incoming.total() <= UnitBuffer.RETAINED_LENGTH
        || add(stream, stream.incoming.total());
  }

  /**
   * Counts a unit of a flow from its first frame on: a message until the call has consumed it, a
   * unit without a message until the end of the stream, since its consumption is not reported.
   * False when it exceeds the limit.
   */
  boolean addUnit(ServerStream stream) {
    final int total = stream.incoming.total();
    final boolean message = (stream.incoming.flags() & MESSAGE) != 0;
    return add(
        stream,
        message
            ? Unit.cost(stream.incoming.flags(), total)
            : total > UnitBuffer.RETAINED_LENGTH ? total : 0);
  }

  private boolean add(ServerStream stream, long bytes) {
    if (length + bytes > maxLength) {
      return false;
    }
    stream.heldLength += bytes;
    length += bytes;
    return true;
  }

  /** Subtracts messages that the call of a flow has consumed. */
  void consumed(long bytes) {
    length -= bytes;
  }

  /** Subtracts a stream's inbound units, which will not be read. */
  void release(ServerStream stream) {
    length -= stream.heldLength;
    stream.heldLength = 0;
    if (stream.flow != null) {
      length -= stream.flow.heldLength();
    }
  }

  /**
   * Counts a cancelled call while user code still uses it: otherwise a client that cancels at once
   * could make more handlers run than it may have calls under way.
   */
  void abandon(ServerStream stream) {
    stream.abandoned = true;
    abandoned++;
  }

  /** Subtracts a cancelled call that has been released. */
  void letGo(ServerStream stream) {
    stream.abandoned = false;
    abandoned--;
    release(stream);
  }
}
