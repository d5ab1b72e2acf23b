package dev.ringfetch.memory;

/**
 * Layout of the memory of a {@link Broadcast}: three counters on lines of their own, and a ring of
 * records. Little-endian. Positions count bytes since the first record; a record stands at {@code
 * position mod length of the ring}.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                            Intent                             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                      56 bytes of padding                     ...
 *  +---------------------------------------------------------------+
 *  |                             Tail                              |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                      56 bytes of padding                     ...
 *  +---------------------------------------------------------------+
 *  |                            Latest                             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                      56 bytes of padding                     ...
 *  +---------------------------------------------------------------+
 *  |                             Ring                             ...
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <ul>
 *   <li><b>Intent</b>: the end of the record that the writer has begun. What is more than a ring's
 *       length behind it may be overwritten.
 *   <li><b>Tail</b>: the end of the last record that is complete; {@link #CLOSED} after the owner
 *       has taken the name back.
 *   <li><b>Latest</b>: the begin of that record, stored after the tail.
 * </ul>
 *
 * <p>A record begins at a multiple of 8, and does not wrap: one that would is preceded by padding
 * up to the ring's end, which has nothing but the length {@link #PADDING}.
 *
 * <pre>
 *  +---------------------------------------------------------------+
 *  |                            Length                             |
 *  +---------------------------------------------------------------+
 *  |                           Reserved                            |
 *  +---------------------------------------------------------------+
 *  |                           Sequence                            |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                            Message                           ...
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <p>The writer stores word by word, each after those before it: the intent, the record, the tail,
 * latest. A reader loads the tail, then records before it, then the intent: records that are at
 * most a ring's length behind that are whole.
 */
final class BroadcastDescriptor {
  /** Offset of the intent. */
  static final int INTENT_OFFSET = 0;

  /** Offset of the tail. */
  static final int TAIL_OFFSET = 64;

  /** Tail after the name was taken back. */
  static final long CLOSED = -1;

  /** Offset of the begin of the latest record. */
  static final int LATEST_OFFSET = 128;

  /** Offset of the ring. */
  static final int RING_OFFSET = 192;

  /** The shortest ring, in bytes. */
  static final int MIN_RING_LENGTH = 1 << 12;

  /** The longest ring, in bytes. */
  static final int MAX_RING_LENGTH = 1 << 29;

  /** Offset of a message's length in its record. */
  static final int LENGTH_OFFSET = 0;

  /** Offset of the message's number in its record. */
  static final int SEQUENCE_OFFSET = 8;

  /** Offset of the message in its record. */
  static final int MESSAGE_OFFSET = 16;

  /** Length of a record that is padding up to the ring's end. */
  static final int PADDING = -1;

  private BroadcastDescriptor() {}

  /** Length of the memory with a ring of this length. */
  static int memoryLength(int ringLength) {
    return RING_OFFSET + ringLength;
  }

  /** The longest message in a ring: a quarter of it, so that a reader can get hold of one. */
  static int maxMessageLength(int ringLength) {
    return ringLength / 4 - MESSAGE_OFFSET;
  }

  /** Length of a record with a message of this length. */
  static int recordLength(int messageLength) {
    return (MESSAGE_OFFSET + messageLength + 7) & -8;
  }

  /** Returns whether a ring can have this length: a power of two within the limits. */
  static boolean isRingLength(int length) {
    return length >= MIN_RING_LENGTH && length <= MAX_RING_LENGTH && Integer.bitCount(length) == 1;
  }
}
