package dev.ringfetch.index.layout;

/**
 * Layout of a partition's clock, which decides which entries have expired: one word of 64 bits, in
 * a cache line of its own, that only the owner of the partition writes. Little-endian.
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
 *   <li><b>Tag</b>: {@value #TAG_BITS} bits of the incarnation of the index, never 0. It
 *       distinguishes the words of different indexes in the reused memory of a root.
 *   <li><b>Time</b>: milliseconds since 1970, as far as they are committed; 0 while no entry has
 *       had a deadline. Only grows. Entries are absent once the time has reached their deadline.
 * </ul>
 */
public final class ClockDescriptor {
  /** Number of the bits of the tag. */
  public static final int TAG_BITS = 20;

  /** The latest time: in the year 2248. */
  public static final long MAX_TIME = (1L << (Long.SIZE - TAG_BITS - 1)) - 1;

  private static final long TAG_MASK = (1L << TAG_BITS) - 1;

  private ClockDescriptor() {}

  /** The word for a time, at most {@link #MAX_TIME}, in the index of that incarnation. */
  public static long word(long time, long incarnation) {
    return (time << TAG_BITS) | tag(incarnation);
  }

  /** The time in a word; -1 if the word belongs to an index of another incarnation. */
  public static long time(long word, long incarnation) {
    return word >= 0 && (word & TAG_MASK) == tag(incarnation) ? word >>> TAG_BITS : -1;
  }

  private static long tag(long incarnation) {
    return 1 + Long.remainderUnsigned(incarnation, TAG_MASK);
  }
}
