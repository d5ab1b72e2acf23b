package dev.ringfetch.session.bulk;

import static dev.ringfetch.session.bulk.BulkRegion.PAGE_LENGTH;

import dev.ringfetch.fabric.MemoryRegion;
import java.util.Arrays;

/**
 * What stands in registered memory that nobody has, where that is asked for: whoever still reads it
 * reads this, and whoever has still written to it is found when it is given out again.
 */
final class Poison {
  /** System property: {@code true} has memory poisoned. It costs two passes over all of it. */
  static final String PROPERTY = "ringfetch.poison";

  /** Every byte of it. */
  static final byte BYTE = (byte) 0xDE;

  private static final byte[] PAGE = new byte[PAGE_LENGTH];

  static {
    Arrays.fill(PAGE, BYTE);
  }

  private Poison() {}

  /** Fills whole pages. */
  static void fill(MemoryRegion region, int offset, int length) {
    for (int page = offset; page < offset + length; page += PAGE_LENGTH) {
      region.putBytes(page, PAGE, 0, PAGE_LENGTH);
    }
  }

  /** Offset of the first byte of these pages that somebody has changed, or -1. */
  static int changed(MemoryRegion region, int offset, int length) {
    final byte[] found = new byte[PAGE_LENGTH];
    for (int page = offset; page < offset + length; page += PAGE_LENGTH) {
      region.getBytes(page, found, 0, PAGE_LENGTH);
      final int mismatch = Arrays.mismatch(PAGE, found);
      if (mismatch >= 0) {
        return page + mismatch;
      }
    }
    return -1;
  }
}
