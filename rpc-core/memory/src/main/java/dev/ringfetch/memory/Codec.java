package dev.ringfetch.memory;

import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;

/**
 * The translation of a type to bytes and back. Buffers are little-endian and have an array; one
 * that a codec got must not be used after it has returned. A flyweight of Agrona or SBE can wrap
 * them.
 *
 * <p>A codec is used by the threads that set, publish, get and poll.
 *
 * @param <T> the type.
 */
public interface Codec<T> {
  /**
   * Writes a value from the buffer's position on, and leaves the position behind it.
   *
   * @throws BufferOverflowException if the value is longer than the buffer.
   */
  void encode(T value, ByteBuffer buffer);

  /** Reads the value between the buffer's position and its limit. */
  T decode(ByteBuffer buffer);
}
