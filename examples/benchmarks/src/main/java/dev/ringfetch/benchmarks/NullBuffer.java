package dev.ringfetch.benchmarks;

import io.grpc.Drainable;
import io.grpc.KnownLength;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;

/**
 * A reusable buffer between two marshallers: takes a message from the writing one and gives it to
 * the reading one.
 */
final class NullBuffer extends InputStream implements KnownLength {
  private static final int INITIAL_LENGTH = 1 << 17;

  private byte[] bytes = new byte[INITIAL_LENGTH];
  private int length;
  private int position;

  private final OutputStream sink =
      new OutputStream() {
        @Override
        public void write(int value) {
          ensure(1);
          bytes[length++] = (byte) value;
        }

        @Override
        public void write(byte[] source, int offset, int count) {
          ensure(count);
          System.arraycopy(source, offset, bytes, length, count);
          length += count;
        }
      };

  private void ensure(int count) {
    if (bytes.length - length < count) {
      bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + count));
    }
  }

  /** Takes a message. */
  InputStream refill(InputStream message) {
    length = 0;
    position = 0;
    try (message) {
      if (message instanceof Drainable drainable) {
        final int unused = drainable.drainTo(sink);
      } else {
        final long unused = message.transferTo(sink);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return this;
  }

  @Override
  public int available() {
    return length - position;
  }

  @Override
  public int read() {
    return position == length ? -1 : bytes[position++] & 0xFF;
  }

  @Override
  public int read(byte[] target, int offset, int count) {
    if (count == 0) {
      return 0;
    }
    final int copied = Math.min(count, length - position);
    if (copied == 0) {
      return -1;
    }
    System.arraycopy(bytes, position, target, offset, copied);
    position += copied;
    return copied;
  }
}
