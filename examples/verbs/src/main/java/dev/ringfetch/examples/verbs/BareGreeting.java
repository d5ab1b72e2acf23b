package dev.ringfetch.examples.verbs;

import java.nio.ByteBuffer;

/**
 * The private data of connect and accept, by which the two ends introduce themselves.
 *
 * @param mode of the connection.
 * @param memory address of the sender's memory.
 * @param key of it, by which the other end names it.
 * @param datagrams number of the sender's queue pair of datagrams; 0 without.
 */
record BareGreeting(BareMode mode, long memory, int key, int datagrams) {
  /** Bytes of a greeting. */
  static final int LENGTH = 20;

  private static final int MODE = 0;
  private static final int KEY = 4;
  private static final int MEMORY = 8;
  private static final int DATAGRAMS = 16;

  /** Writes it at some place. */
  void encode(ByteBuffer out, int offset) {
    out.putInt(offset + MODE, mode.code())
        .putInt(offset + KEY, key)
        .putLong(offset + MEMORY, memory)
        .putInt(offset + DATAGRAMS, datagrams);
  }

  /**
   * Reads it.
   *
   * @throws IllegalArgumentException if there is no such mode.
   */
  static BareGreeting decode(ByteBuffer in, int offset) {
    return new BareGreeting(
        BareMode.of(in.getInt(offset + MODE)),
        in.getLong(offset + MEMORY),
        in.getInt(offset + KEY),
        in.getInt(offset + DATAGRAMS));
  }
}
