package dev.ringfetch.index.layout;

/**
 * Layout of a group of three buckets, each of one line: main 0, overflow, main 1. The combined
 * bucket of side 0 is main 0 with overflow, that of side 1 overflow with main 1, each of them 128
 * consecutive bytes. Little-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                            Link 0                             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                       7 Slots of main 0                      ...
 *  +---------------+---------------+-------------------------------+
 *  |     Depth     |     Flags     |       2 bytes of padding      |
 *  +---------------+---------------+-------------------------------+
 *  |                            Suffix                             |
 *  +---------------------------------------------------------------+
 *  |                      7 Slots of overflow                     ...
 *  +---------------------------------------------------------------+
 *  |                            Link 1                             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                       7 Slots of main 1                      ...
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <ul>
 *   <li><b>Depth, Flags, Suffix</b>: the header, one 64-bit word for the whole group, in the bucket
 *       that both sides share. The group has the keys with {@code half mod 2^depth == suffix}; the
 *       suffix is the group's number. Flags has {@link #LIVE}, without which the group has no keys
 *       yet. A depth only grows, so a header never comes back.
 *   <li><b>Slot</b>: 0, or fingerprint 8 bits (highest), {@linkplain SizeClasses size class} 8
 *       bits, address of the block in units of 4 bytes 48 bits. Written in one store.
 *   <li><b>Link</b>: 0, or the address of the first spill of that side: a link and 15 slots more,
 *       {@value #SPILL_LENGTH} bytes. Links are set once. A side has spills only if both combined
 *       buckets of some key were full.
 * </ul>
 */
public final class GroupDescriptor {
  /** Bytes of a bucket: one line. */
  public static final int BUCKET_LENGTH = 64;

  /** Bytes of a combined bucket. */
  public static final int COMBINED_LENGTH = 2 * BUCKET_LENGTH;

  /** Buckets of a group. */
  public static final int BUCKETS = 3;

  /** Bytes of a group. */
  public static final int GROUP_LENGTH = BUCKETS * BUCKET_LENGTH;

  /** Slots of a bucket. */
  public static final int BUCKET_SLOTS = 7;

  /** Slots of a group, without spills. */
  public static final int GROUP_SLOTS = BUCKETS * BUCKET_SLOTS;

  /** Offset of the header, 64 bits: the first word of the overflow bucket. */
  public static final int HEADER_OFFSET = BUCKET_LENGTH;

  /** Flag: the group has keys. */
  public static final int LIVE = 1;

  /** Bytes of a spill. */
  public static final int SPILL_LENGTH = 128;

  /** Words of 64 bits of a combined bucket, and of a spill. */
  public static final int WORDS = SPILL_LENGTH / Long.BYTES;

  private GroupDescriptor() {}

  /** Offset of a side's combined bucket. */
  public static int combinedOffset(int side) {
    return side * BUCKET_LENGTH;
  }

  /** Offset of a side's main bucket, which begins with its link. */
  public static int mainOffset(int side) {
    return side * 2 * BUCKET_LENGTH;
  }

  /** Number of the word of a side's combined bucket that is the header; the other is the link. */
  public static int headerWord(int side) {
    return side == 0 ? BUCKET_LENGTH / Long.BYTES : 0;
  }

  /** Number of the word of a side's combined bucket that is the link. */
  public static int linkWord(int side) {
    return side == 0 ? 0 : BUCKET_LENGTH / Long.BYTES;
  }

  /** Header of a live group. */
  public static long header(int depth, int group) {
    return ((long) group << 32) | (LIVE << 8) | depth;
  }

  /** Depth in a header. */
  public static int depth(long header) {
    return (int) header & 0xFF;
  }

  /** Whether this is the header of that group and says that it has keys. */
  public static boolean isLive(long header, int group) {
    return (header & 0xFFFF_FF00L) == LIVE << 8
        && (int) (header >>> 32) == group
        && depth(header) <= 30;
  }

  /**
   * Number of the group that has the keys of a half, by the depth in the header of a live group.
   */
  public static int group(long header, int half) {
    return half & ((1 << depth(header)) - 1);
  }

  /** A slot. */
  public static long slot(int fingerprint, int sizeClass, long address) {
    return ((long) fingerprint << 56) | ((long) sizeClass << 48) | (address >>> 2);
  }

  /** Fingerprint in a slot. */
  public static int fingerprint(long slot) {
    return (int) (slot >>> 56);
  }

  /** Size class in a slot. */
  public static int sizeClass(long slot) {
    return (int) (slot >>> 48) & 0xFF;
  }

  /** Address of the block of a slot. */
  public static long address(long slot) {
    return (slot & 0xFFFF_FFFF_FFFFL) << 2;
  }
}
