package dev.ringfetch.index.layout;

import com.google.protobuf.ByteString;
import java.nio.ByteBuffer;

/**
 * Layout of the value of a counter: a signed number of 64 bits in {@value #LENGTH} bytes, big
 * endian, with the sign bit flipped. So the bytes of counters have the order of their numbers.
 *
 * <p>It is the form of the client's {@code Codec.int64()}: a view with that codec reads counters,
 * and increments the numbers that it has written itself.
 */
public final class CounterDescriptor {
  /** Length of a counter's value. */
  public static final int LENGTH = Long.BYTES;

  private CounterDescriptor() {}

  /** Whether a value can be that of a counter. */
  public static boolean isCounter(ByteString value) {
    return value.size() == LENGTH;
  }

  /** The number in the value of a counter. */
  public static long number(ByteString counter) {
    return flip(counter.asReadOnlyByteBuffer().getLong());
  }

  /** The value of a counter with this number. */
  public static ByteString value(long number) {
    return ByteString.copyFrom(ByteBuffer.allocate(LENGTH).putLong(flip(number)).flip());
  }

  /**
   * The value of a counter after an addition; null if there is none: the value before is not that
   * of a counter, or the sum has more than 64 bits.
   *
   * @param before null to count from 0
   */
  public static ByteString sum(ByteString before, long delta) {
    if (before != null && !isCounter(before)) {
      return null;
    }
    final long number = before == null ? 0 : number(before);
    final long sum = number + delta;
    final boolean hasOverflowed = ((number ^ sum) & (delta ^ sum)) < 0;
    return hasOverflowed ? null : value(sum);
  }

  private static long flip(long number) {
    return number ^ Long.MIN_VALUE;
  }
}
