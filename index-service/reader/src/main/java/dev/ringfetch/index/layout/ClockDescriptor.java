package dev.ringfetch.index.layout;

/**
 * Layout of a clock, which says which entries of a partition are absent: one word of 64 bits, in a
 * line of its own, that the owner of the partition alone writes. Little-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------+-----------------------+
 *  |                  Tag                  |     Time, lower       |
 *  +---------------------------------------+-----------------------+
 *  |                          Time, upper                          |
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <ul>
 *   <li><b>Tag</b>: {@value #TAG_BITS} bits of the incarnation of the index, never 0: so a word
 *       that is another index's, in the memory of a root that was used again, is told from its own.
 *   <li><b>Time</b>: milliseconds since 1970, as far as they are committed; 0 while no entry has
 *       had a deadline. Only grows. Entries whose deadline it has come to are absent.
 * </ul>
 */
public final class ClockDescriptor {
  /** Number of the bits of the tag. */
  public static final int TAG_BITS = 20;

  /** The latest time: in the year 2248. */
  public static final long MAX_TIME = (1L << (Long.SIZE - TAG_BITS - 1)) - 1;

  private static final long TAG_MASK = (1L << TAG_BITS) - 1;

  private ClockDescriptor() {}

  /** The word of a time, at most {@link #MAX_TIME}, of the index of that incarnation. */
  public static long word(long time, long incarnation) {
    return (time << TAG_BITS) | tag(incarnation);
  }

  /** The time of a word; -1 if that is not of the index of that incarnation. */
  public static long time(long word, long incarnation) {
    return word >= 0 && (word & TAG_MASK) == tag(incarnation) ? word >>> TAG_BITS : -1;
  }

  private static long tag(long incarnation) {
    return 1 + Long.remainderUnsigned(incarnation, TAG_MASK);
  }
}
