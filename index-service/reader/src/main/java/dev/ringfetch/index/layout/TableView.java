package dev.ringfetch.index.layout;

/**
 * A reader's cache of a table: the addresses of groups, which never change, and the number of
 * groups at the last load.
 */
final class TableView {
  private final long head;
  private final int doublings;

  private int groups;
  private final long[] pages = new long[TableDescriptor.PAGES];
  private final long[][] extents = new long[TableDescriptor.PAGES][];

  TableView(long head, int segmentShift) {
    this.head = head;
    this.doublings = TableDescriptor.doublings(segmentShift);
  }

  /** Group of a half, or -1 if the number of groups is not known. */
  int group(int half) {
    return groups == 0 ? -1 : KeyHash.group(half, groups);
  }

  /** Address of a group, or 0 if it is not known. */
  long address(int group) {
    final int page = TableDescriptor.page(group, doublings);
    if (page >= TableDescriptor.PAGES || extents[page] == null) {
      return 0;
    }
    final long extent = extents[page][TableDescriptor.extent(group, page, doublings)];
    return extent == 0 ? 0 : extent + TableDescriptor.offset(group, page, doublings);
  }

  /** Address of the next word to load in order to find a group, or 0 if there is none. */
  long missing(int group) {
    final int page = group < 0 ? TableDescriptor.PAGES : TableDescriptor.page(group, doublings);
    if (page >= TableDescriptor.PAGES) {
      return head + TableDescriptor.GROUPS_OFFSET;
    }
    if (pages[page] == 0) {
      return pageWord(page);
    }
    return address(group) == 0 ? extentWord(group, page) : 0;
  }

  private long pageWord(int page) {
    return head + TableDescriptor.PAGES_OFFSET + (long) page * Long.BYTES;
  }

  private long extentWord(int group, int page) {
    return pages[page] + (long) TableDescriptor.extent(group, page, doublings) * Long.BYTES;
  }

  /**
   * Caches a word that was {@link #missing} to find a group.
   *
   * @return whether its value is possible
   */
  boolean learn(int group, long address, long word) {
    if (address == head + TableDescriptor.GROUPS_OFFSET) {
      if (word < 1 || word > TableDescriptor.MAX_GROUPS) {
        return false;
      }
      groups = (int) word;
      return group < 0;
    }
    if (word <= 0 || (word & 7) != 0) {
      return false;
    }
    final int page = TableDescriptor.page(group, doublings);
    if (address == pageWord(page)) {
      if (pages[page] == 0) {
        pages[page] = word;
        extents[page] = new long[TableDescriptor.PAGE_EXTENTS];
      }
    } else {
      extents[page][TableDescriptor.extent(group, page, doublings)] = word;
    }
    return true;
  }

  /** Notes that a group exists, and so all groups before it. */
  void learnGroup(int group) {
    groups = Math.max(groups, group + 1);
  }

  /** Forgets the number of groups, so that it is loaded again. */
  void forgetGroups() {
    groups = 0;
  }
}
