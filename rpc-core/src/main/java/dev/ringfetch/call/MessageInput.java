package dev.ringfetch.call;

import dev.ringfetch.session.unit.UnitBuffer;
import io.grpc.Detachable;
import io.grpc.HasByteBuffer;
import io.grpc.KnownLength;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * An inbound message in private memory, as a stream for marshallers. Closing it gives the memory
 * back, and it reads as empty from then on. A caller that detaches it keeps the memory for as long
 * as it likes.
 */
public final class MessageInput extends InputStream
    implements KnownLength, HasByteBuffer, Detachable {
  private static final byte[] EMPTY = {};

  private UnitBuffer unit; // null: this stream owns the memory
  private byte[] bytes;
  private int position;
  private int end;
  private int mark;

  /** Reads a part of a unit, which belongs to the caller. */
  public MessageInput(UnitBuffer unit, int offset, int length) {
    this(unit, unit.array(), offset, offset + length);
  }

  private MessageInput(UnitBuffer unit, byte[] bytes, int position, int end) {
    this.unit = unit;
    this.bytes = bytes;
    this.position = position;
    this.end = end;
    this.mark = position;
  }

  @Override
  public boolean byteBufferSupported() {
    return true;
  }

  @Override
  public ByteBuffer getByteBuffer() {
    return position < end
        ? ByteBuffer.wrap(bytes, position, end - position).slice().asReadOnlyBuffer()
        : null;
  }

  @Override
  public InputStream detach() {
    if (unit != null && bytes != EMPTY) {
      bytes = unit.detach();
    }
    final InputStream detached = new MessageInput(null, bytes, position, end);
    unit = null;
    close();
    return detached;
  }

  @Override
  public int read() {
    return position < end ? bytes[position++] & 0xFF : -1;
  }

  @Override
  public int read(byte[] destination, int offset, int length) {
    Objects.checkFromIndexSize(offset, length, destination.length);
    if (length == 0) {
      return 0;
    }
    final int count = Math.min(length, end - position);
    if (count == 0) {
      return -1;
    }
    System.arraycopy(bytes, position, destination, offset, count);
    position += count;
    return count;
  }

  @Override
  public long skip(long count) {
    final int skipped = (int) Math.max(0, Math.min(count, end - position));
    position += skipped;
    return skipped;
  }

  @Override
  public int available() {
    return end - position;
  }

  @Override
  public boolean markSupported() {
    return true;
  }

  @Override
  public void mark(int readLimit) {
    mark = position;
  }

  @Override
  public void reset() {
    position = mark;
  }

  @Override
  public void close() {
    bytes = EMPTY;
    position = 0;
    end = 0;
    mark = 0;
  }
}
