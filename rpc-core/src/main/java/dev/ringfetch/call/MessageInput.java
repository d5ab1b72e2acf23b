package dev.ringfetch.call;

import io.grpc.KnownLength;
import java.io.InputStream;
import java.util.Objects;

/**
 * A message that has arrived, in private memory, as marshallers want it. Closing it gives the
 * memory back: it reads as empty from then on.
 */
final class MessageInput extends InputStream implements KnownLength {
  private static final byte[] EMPTY = {};

  private byte[] bytes;
  private int position;
  private int end;
  private int mark;

  MessageInput(byte[] bytes, int offset, int length) {
    this.bytes = bytes;
    this.position = offset;
    this.end = offset + length;
    this.mark = offset;
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
