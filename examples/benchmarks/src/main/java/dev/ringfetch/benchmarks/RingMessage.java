package dev.ringfetch.benchmarks;

import dev.ringfetch.ring.FrameDescriptor;
import dev.ringfetch.session.bulk.BulkPool;
import dev.ringfetch.session.unit.SegmentOutput;
import dev.ringfetch.session.unit.UnitBuffer;

/**
 * Messages of calls that a session carries without a call layer. Numbers are little-endian.
 *
 * <pre>
 *    request                                      answer
 *    0          4          8            32        0          4                  length
 *   +----------+----------+--- ... ----+         +----------+------ ... --------+
 *   | length   | number   | 0          |         | number   | the value's bytes |
 *   +----------+----------+--- ... ----+         +----------+------ ... --------+
 * </pre>
 *
 * Length: bytes that the answer is to have. Number: differs from that of every earlier call.
 */
final class RingMessage {
  /** Flags of both: a whole message, with nothing before it and nothing behind. */
  static final int FLAGS =
      FrameDescriptor.PREFIX | FrameDescriptor.MESSAGE | FrameDescriptor.SUFFIX;

  /** Length of a request, in bytes. */
  static final int REQUEST_LENGTH = 32;

  private static final int LENGTH = 0;
  private static final int NUMBER = 4;
  private static final byte[] REST = new byte[REQUEST_LENGTH - NUMBER - Integer.BYTES];

  private RingMessage() {}

  /** Fills a request. */
  static void putRequest(UnitBuffer unit, int length, int number) {
    unit.addInt(length);
    unit.addInt(number);
    unit.addBytes(REST, 0, REST.length);
  }

  /** How long the answer to a request is to be. */
  static int lengthOf(UnitBuffer request) {
    return getInt(request, LENGTH);
  }

  /** Which call a request is. */
  static int numberOf(UnitBuffer request) {
    return getInt(request, NUMBER);
  }

  /**
   * Fills an answer.
   *
   * @param value whose first bytes are replaced by the number; the answer is as long.
   * @param pool of memory for long ones.
   */
  static void putAnswer(UnitBuffer unit, byte[] value, int number, BulkPool pool) {
    setInt(value, 0, number);
    if (value.length > pool.threshold()) {
      final SegmentOutput output = new SegmentOutput(unit, pool, value.length);
      output.write(value, 0, value.length);
    } else {
      unit.addBytes(value, 0, value.length);
    }
  }

  /** Whether an answer has this length and number, and the value's last byte. */
  static boolean isAnswer(UnitBuffer unit, int length, int number) {
    return unit.length() == length
        && getInt(unit, 0) == number
        && unit.array()[unit.offset() + length - 1] == last(length);
  }

  /** A value for answers of some length, of at least 8 bytes. */
  static byte[] value(int length) {
    final byte[] value = new byte[length];
    value[length - 1] = last(length);
    return value;
  }

  private static byte last(int length) {
    return (byte) (length * 31 + 7);
  }

  private static int getInt(UnitBuffer unit, int index) {
    final byte[] bytes = unit.array();
    final int at = unit.offset() + index;
    return (bytes[at] & 0xFF)
        | ((bytes[at + 1] & 0xFF) << 8)
        | ((bytes[at + 2] & 0xFF) << 16)
        | ((bytes[at + 3] & 0xFF) << 24);
  }

  private static void setInt(byte[] bytes, int at, int value) {
    bytes[at] = (byte) value;
    bytes[at + 1] = (byte) (value >>> 8);
    bytes[at + 2] = (byte) (value >>> 16);
    bytes[at + 3] = (byte) (value >>> 24);
  }
}
