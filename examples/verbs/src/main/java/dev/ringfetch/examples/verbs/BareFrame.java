package dev.ringfetch.examples.verbs;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A message in a slot of registered memory, with its number before and behind it.
 *
 * <pre>
 *    0                8                               40               48
 *   +----------------+--------------- ... -----------+----------------+
 *   | head: number   | payload                       | tail: number   |
 *   +----------------+--------------- ... -----------+----------------+
 *   |&lt;----------------- as it is READ --------------&gt;|
 *                    |&lt;------------- as it is written or sent --------&gt;|
 * </pre>
 *
 * Bytes are taken to be copied in ascending order. So a receiver of a WRITE polls the word that
 * comes last, and the word that a READ takes first was stored last. That is more than verbs
 * promise; so the payload, which follows from the number, is compared as a whole.
 */
final class BareFrame {
  /** Bytes of payload. */
  static final int PAYLOAD_LENGTH = 32;

  static final int HEAD = 0;
  static final int PAYLOAD = 8;
  static final int TAIL = PAYLOAD + PAYLOAD_LENGTH;

  /** Bytes of a slot. */
  static final int LENGTH = TAIL + Long.BYTES;

  /** Bytes that are READ from {@link #HEAD} on, or written or sent from {@link #PAYLOAD} on. */
  static final int TRANSFER_LENGTH = PAYLOAD_LENGTH + Long.BYTES;

  private static final VarHandle WORD =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
  private static final long MIX = 0x9E3779B97F4A7C15L;

  private final ByteBuffer memory;
  private final int slot;

  /** A frame in a slot that begins at a multiple of 8 in aligned memory. */
  BareFrame(ByteBuffer memory, int slot) {
    this.memory = memory;
    this.slot = slot;
  }

  /** Writes the payload that belongs to a number. */
  void fill(long number) {
    for (int i = 0; i < PAYLOAD_LENGTH; i += Long.BYTES) {
      WORD.set(memory, slot + PAYLOAD + i, (number + i) * MIX);
    }
  }

  /** Whether the payload is the one that belongs to a number. */
  boolean holds(long number) {
    for (int i = 0; i < PAYLOAD_LENGTH; i += Long.BYTES) {
      if ((long) WORD.get(memory, slot + PAYLOAD + i) != (number + i) * MIX) {
        return false;
      }
    }
    return true;
  }

  /** Copies another frame's payload. */
  void copy(BareFrame from) {
    for (int i = 0; i < PAYLOAD_LENGTH; i += Long.BYTES) {
      WORD.set(memory, slot + PAYLOAD + i, (long) WORD.get(from.memory, from.slot + PAYLOAD + i));
    }
  }

  /** Number before the payload. */
  long headAcquire() {
    return (long) WORD.getAcquire(memory, slot + HEAD);
  }

  /** Number behind the payload. */
  long tailAcquire() {
    return (long) WORD.getAcquire(memory, slot + TAIL);
  }

  void putHeadRelease(long number) {
    WORD.setRelease(memory, slot + HEAD, number);
  }

  void putTailRelease(long number) {
    WORD.setRelease(memory, slot + TAIL, number);
  }
}
