package dev.ringfetch.ring;

/**
 * Layout of a frame: 1..n consecutive 64-byte slots that never wrap around the end of the ring.
 * Little-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                            Length                             |
 *  +---------------------------------------------------------------+
 *  |                              Tag                              |
 *  +---------------------------------------------------------------+
 *  |                           Stream Id                           |
 *  +-------------------------------+-------------------------------+
 *  |             Flags             |             Code              |
 *  +-------------------------------+-------------------------------+
 *  |                              Ack                              |
 *  +---------------------------------------------------------------+
 *  |                            Crc32c                             |
 *  +---------------------------------------------------------------+
 *  |                            Payload                           ...
 * ...             padding to the last 8 bytes of a slot            |
 *  +---------------------------------------------------------------+
 *  |                          Commit Word                          |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <ul>
 *   <li><b>Word 0</b> (Length and Tag, one 64-bit word): the length of the payload in bytes, and a
 *       hash of epoch and position. A CPU stores it last, a NIC places it first.
 *   <li><b>Commit Word</b>: the 64-bit position salted with the epoch, then scattered over all 64
 *       bits. A NIC places it last. A frame counts only when both match: words of an earlier lap
 *       have another position, an application's payload cannot know the epoch, and a mixture of an
 *       old commit word and the end of a payload matches neither.
 *   <li><b>Code</b>: the method id in a request; in a response the status code in the low 8 bits
 *       and, where a card stands between, the {@linkplain ProcessTime process time} in the high 8.
 *   <li><b>Ack</b>: low 32 bits of the position up to which the sender of this frame has consumed
 *       the opposite ring; a hint, credit never depends on it.
 *   <li><b>Crc32c</b>: of epoch, position, header and payload, where a card stands between what is
 *       stored and what is loaded; 0 where both sides load and store one memory.
 * </ul>
 *
 * <p>A 32-byte payload and its frame are exactly one slot. The reasons for the widths are in
 * docs/adr/0001-frame-layout.md.
 */
public final class FrameDescriptor {
  /** Bytes of a slot: one cache line. */
  public static final int SLOT_LENGTH = 64;

  /** Offset of the payload's length in bytes, 32 bits; the low half of word 0. */
  public static final int LENGTH_OFFSET = 0;

  /** Offset of the tag, 32 bits; the high half of word 0. */
  public static final int TAG_OFFSET = LENGTH_OFFSET + Integer.BYTES;

  /** Offset of the stream id, 32 bits. */
  public static final int STREAM_ID_OFFSET = TAG_OFFSET + Integer.BYTES;

  /** Offset of the flags, 16 bits. */
  public static final int FLAGS_OFFSET = STREAM_ID_OFFSET + Integer.BYTES;

  /** Offset of the code, 16 bits. */
  public static final int CODE_OFFSET = FLAGS_OFFSET + Short.BYTES;

  /** Offset of the ack, 32 bits. */
  public static final int ACK_OFFSET = CODE_OFFSET + Short.BYTES;

  /** Offset of the checksum, 32 bits. */
  public static final int CRC32C_OFFSET = ACK_OFFSET + Integer.BYTES;

  /** Offset of the payload. */
  public static final int PAYLOAD_OFFSET = CRC32C_OFFSET + Integer.BYTES;

  /** Length of the commit word, the last bytes of the last slot. */
  public static final int COMMIT_LENGTH = Long.BYTES;

  /** Bytes of a frame that are not payload. */
  public static final int OVERHEAD = PAYLOAD_OFFSET + COMMIT_LENGTH;

  /** Stream id of frames that concern the session, not a call. */
  public static final int SESSION_STREAM_ID = 0;

  /** The unit begins a stream: a request's method, a response's headers. */
  public static final int PREFIX = 0x1;

  /** The unit carries a message, in the rest of its bytes. */
  public static final int MESSAGE = 0x2;

  /** The unit ends its direction: half-close of a request, status of a response. */
  public static final int SUFFIX = 0x4;

  /** Client: cancels the stream. Server: has cancelled it, and nothing follows for this id. */
  public static final int CLOSE = 0x8;

  /** The unit carries the time that is left, in nanoseconds, 64 bits. */
  public static final int DEADLINE = 0x10;

  /** The unit carries a status description: 32-bit length, UTF-8. */
  public static final int DESCRIPTION = 0x20;

  /** The unit carries headers: 32-bit length, metadata block. */
  public static final int METADATA = 0x40;

  /** More frames of this unit follow; the first begins with the unit's length, 32 bits. */
  public static final int PARTIAL = 0x80;

  /** The frame says how much of a stream's messages was consumed, 64 bits. */
  public static final int WINDOW_UPDATE = 0x100;

  /** The unit carries trailers: 32-bit length, metadata block. */
  public static final int TRAILERS = 0x200;

  /** The unit carries the method's full name (16-bit length, UTF-8): it has no method id. */
  public static final int NAMED = 0x400;

  /** The frame continues a unit that an earlier frame of its stream began. */
  public static final int CONTINUATION = 0x800;

  /** The frame fills the end of the ring; its payload means nothing. */
  public static final int PAD = 0x1000;

  /** Session frame: the server asks that no new call be put on this session. */
  public static final int DRAIN = 0x2000;

  /** The unit's message is compressed, as the stream's headers say. */
  public static final int COMPRESSED = 0x4000;

  /**
   * In a frame that continues a unit: its bytes are in memory that its writer has registered, as
   * {@link BulkDescriptor} says. Session frame: offers such memory, or answers an offer.
   */
  public static final int BULK = 0x8000;

  private FrameDescriptor() {}

  /** Slots that a frame with this payload takes. */
  public static int slots(int payloadLength) {
    return (payloadLength + OVERHEAD + SLOT_LENGTH - 1) / SLOT_LENGTH;
  }

  /** Longest payload of a frame of this many slots. */
  public static int maxPayload(int slots) {
    return slots * SLOT_LENGTH - OVERHEAD;
  }

  /**
   * Tag of the frame at this position: the high half of Fibonacci hashing, so neighbours differ.
   */
  public static int tag(long epoch, long position) {
    return (int) (((position ^ epoch) * 0x9E3779B97F4A7C15L) >>> 32);
  }

  /**
   * Commit word of the frame at this position: another one for every position. Neighbours differ in
   * all bytes: else the last byte of a payload that ends within an old commit word would make it a
   * later one's, once in 256 times.
   */
  public static long commitWord(long epoch, long position) {
    return (position ^ epoch) * 0xD1342543DE82EF95L;
  }

  /** Word 0 of a frame. */
  public static long word0(int tag, int length) {
    return ((long) tag << 32) | (length & 0xFFFF_FFFFL);
  }

  /** The word that holds stream id, flags and code. */
  public static long word1(int streamId, int flags, int code) {
    return (streamId & 0xFFFF_FFFFL) | ((long) (flags & 0xFFFF) << 32) | ((long) code << 48);
  }
}
