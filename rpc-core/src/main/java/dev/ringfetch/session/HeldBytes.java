package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;

import dev.ringfetch.session.unit.Unit;
import dev.ringfetch.session.unit.UnitBuffer;

/**
 * What a client has its server hold, and how much that may be: bytes of long requests and of
 * streams' messages, and calls that it has cancelled and that have not let go. Belongs to the owner
 * of the session.
 */
final class HeldBytes {
  /** A client with few streams may cancel and call again before handlers learn of the cancel. */
  private static final int MIN_ABANDONED = 64;

  private final long maxLength;
  private final int maxAbandoned;

  private long length;
  private int abandoned;

  /**
   * Creates it.
   *
   * @param maxLength bytes that may be held.
   * @param maxStreams calls that may be under way.
   */
  HeldBytes(long maxLength, int maxStreams) {
    this.maxLength = maxLength;
    this.maxAbandoned = Math.max(MIN_ABANDONED, maxStreams);
  }

  /** Bytes that are held. */
  long length() {
    return length;
  }

  /** Most bytes that may be. */
  long maxLength() {
    return maxLength;
  }

  /** Cancelled calls that have not let go. */
  int abandoned() {
    return abandoned;
  }

  /** True when so many cancelled calls still run that no other may begin. */
  boolean isCrowded() {
    return abandoned >= maxAbandoned;
  }

  /** Counts the one request of a call, if it is long. False when it is too much. */
  boolean addRequest(ServerStream stream) {
    return stream.incoming.total() <= UnitBuffer.RETAINED_LENGTH
        || add(stream, stream.incoming.total());
  }

  /**
   * Counts a unit of a flow from its first frame on: a message until the call has consumed it, what
   * has none to the end of the stream, since nobody says when that was read. False when it is too
   * much.
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

  /** The call of a flow has consumed messages. */
  void consumed(long bytes) {
    length -= bytes;
  }

  /** Nobody reads what came in for a stream. */
  void release(ServerStream stream) {
    length -= stream.heldLength;
    stream.heldLength = 0;
    if (stream.flow != null) {
      length -= stream.flow.heldLength();
    }
  }

  /**
   * A cancelled call is still counted while code of the user has it: else a client that cancels at
   * once could have more run here than it may have under way.
   */
  void abandon(ServerStream stream) {
    stream.abandoned = true;
    abandoned++;
  }

  /** The call has learned that it was cancelled, and holds its request no longer. */
  void letGo(ServerStream stream) {
    stream.abandoned = false;
    abandoned--;
    release(stream);
  }
}
