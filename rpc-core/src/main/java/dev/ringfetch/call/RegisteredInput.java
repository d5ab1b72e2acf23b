package dev.ringfetch.call;

import dev.ringfetch.session.bulk.BulkPool;
import dev.ringfetch.session.bulk.Segment;
import dev.ringfetch.session.unit.UnitBuffer;
import io.grpc.KnownLength;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Objects;

/** A {@link RegisteredMessage} for any transport, and for the ring that its memory belongs to. */
final class RegisteredInput extends InputStream implements KnownLength {
  private final RegisteredMessage message;
  private final ByteBuffer head;
  private final ByteBuffer rest;

  RegisteredInput(RegisteredMessage message) {
    this.message = message;
    head = ByteBuffer.wrap(message.head());
    rest = message.buffer().buffer().duplicate();
    rest.clear();
  }

  /**
   * Adds the message to a unit as it stands.
   *
   * @return false when its memory is not of this pool: nothing was added.
   */
  boolean addTo(UnitBuffer unit, BulkPool pool) {
    final Segment segment = message.buffer().segment();
    if (segment == null || !pool.owns(segment)) {
      return false;
    }
    unit.addBytes(message.head(), 0, message.head().length);
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
