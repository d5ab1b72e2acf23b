package dev.ringfetch.index.layout;

/**
 * Layout of a table: a head, pages, and extents of bucket groups. Little-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                            Groups                             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                         31 Page words                        ...
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <ul>
 *   <li><b>Groups</b>: number of groups that are live; only grows.
 *   <li><b>Page word</b>: address of a page, or 0 while there is none. A page is 128 words of 64
 *       bits: addresses of extents, or 0. No word changes once it is set.
 * </ul>
 *
 * <p>An extent of page <i>p</i> has 16 &lt;&lt; <i>p</i> groups, at most as many as fit into a 16th
 * of a segment or 1024: a small table needs little memory, a large one few pages. Readers can cache
 * the addresses of groups: neither pages nor extents ever move.
 */
public final class TableDescriptor {
  /** Offset of the number of groups, 64 bits. */
  public static final int GROUPS_OFFSET = 0;

  /** Offset of the first page word. */
  public static final int PAGES_OFFSET = GROUPS_OFFSET + Long.BYTES;

  /** Number of page words. */
  public static final int PAGES = 31;

  /** Length of a head in bytes. */
  public static final int HEAD_LENGTH = PAGES_OFFSET + PAGES * Long.BYTES;

  /** Number of extents that a page refers to. */
  public static final int PAGE_EXTENTS = 128;

  /** Length of a page in bytes. */
  public static final int PAGE_LENGTH = PAGE_EXTENTS * Long.BYTES;

  /**
   * The most groups of a table, even if the pages allow more: the highest bit of a half is the
   * side.
   */
  public static final int MAX_GROUPS = 1 << 30;

  private static final int FIRST_EXTENT_SHIFT = 4;
  private static final int PAGE_SHIFT = 7;
  private static final int MAX_DOUBLINGS = 6;

  private TableDescriptor() {}

  /** How often extents double, for a segment length of {@code 1 << segmentShift} bytes. */
  public static int doublings(int segmentShift) {
    int doublings = 0;
    while (doublings < MAX_DOUBLINGS
        && extentLength(doublings + 1, MAX_DOUBLINGS) <= 1L << (segmentShift - 4)) {
      doublings++;
    }
    return doublings;
  }

  /** Page of a group; {@link #PAGES} or more if the table cannot have it. */
  public static int page(int group, int doublings) {
    final int units = (group >>> (FIRST_EXTENT_SHIFT + PAGE_SHIFT)) + 1;
    final int page = 31 - Integer.numberOfLeadingZeros(units);
    if (page <= doublings) {
      return page;
    }
    final int shift = FIRST_EXTENT_SHIFT + PAGE_SHIFT + doublings;
    return doublings + ((group - firstGroup(doublings, doublings)) >>> shift);
  }

  /** The first group of a page. */
  public static int firstGroup(int page, int doublings) {
    final int doubled = Math.min(page, doublings);
    return (((1 << doubled) - 1) << (FIRST_EXTENT_SHIFT + PAGE_SHIFT))
        + ((page - doubled) << (FIRST_EXTENT_SHIFT + PAGE_SHIFT + doublings));
  }

  /** Place of a group's extent in its page. */
  public static int extent(int group, int page, int doublings) {
    return (group - firstGroup(page, doublings)) >>> extentShift(page, doublings);
  }

  /** Offset of a group in its extent, in bytes. */
  public static int offset(int group, int page, int doublings) {
    final int mask = (1 << extentShift(page, doublings)) - 1;
    return ((group - firstGroup(page, doublings)) & mask) * GroupDescriptor.GROUP_LENGTH;
  }

  /** Length of each extent of a page in bytes. */
  public static int extentLength(int page, int doublings) {
    return GroupDescriptor.GROUP_LENGTH << extentShift(page, doublings);
  }

  private static int extentShift(int page, int doublings) {
    return FIRST_EXTENT_SHIFT + Math.min(page, doublings);
  }
}
