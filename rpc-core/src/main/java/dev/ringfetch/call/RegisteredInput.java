package dev.ringfetch.call;

import dev.ringfetch.session.bulk.BulkPool;
import dev.ringfetch.session.bulk.Segment;
import dev.ringfetch.session.unit.UnitBuffer;
import io.grpc.KnownLength;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * The stream of an outbound message with its long part in registered memory: any transport reads it
 * as a stream, and the ring that the memory belongs to sends it without a copy.
 */
public final class RegisteredInput extends InputStream implements KnownLength {
  private final Segment segment; // null: the rest is ordinary memory
  private final ByteBuffer head;
  private final ByteBuffer rest;

  /**
   * Creates the stream.
   *
   * @param head first bytes of the message.
   * @param rest the other bytes, whatever the buffer's position and limit are.
   * @param segment the memory of these, or null where they are in ordinary memory.
   */
  public RegisteredInput(byte[] head, ByteBuffer rest, Segment segment) {
    this.segment = segment;
    this.head = ByteBuffer.wrap(head);
    this.rest = rest.duplicate().clear();
  }

  /**
   * Adds the message to a unit without a copy.
   *
   * @return false when its memory is not of this pool: nothing was added.
   */
  public boolean addTo(UnitBuffer unit, BulkPool pool) {
    if (segment == null || !pool.owns(segment)) {
      return false;
    }
    unit.addBytes(head.array(), 0, head.array().length);
    final int step = pool.segmentLength();
    for (int done = 0; done < segment.length(); done += step) {
      unit.addSegment(segment.retain(), done, Math.min(step, segment.length() - done));
    }
    return true;
  }

  private ByteBuffer next() {
    return head.hasRemaining() ? head : rest;
  }

  @Override
  public int read() {
    final ByteBuffer from = next();
    return from.hasRemaining() ? from.get() & 0xFF : -1;
  }

  @Override
  public int read(byte[] destination, int offset, int length) {
    Objects.checkFromIndexSize(offset, length, destination.length);
    if (length == 0) {
      return 0;
    }
    final ByteBuffer from = next();
    final int count = Math.min(length, from.remaining());
    if (count == 0) {
      return -1;
    }
    from.get(destination, offset, count);
    return count;
  }

  @Override
  public int available() {
    return head.remaining() + rest.remaining();
  }
}
