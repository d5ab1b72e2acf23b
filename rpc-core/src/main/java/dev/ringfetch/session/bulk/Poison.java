package dev.ringfetch.session.bulk;

import static dev.ringfetch.session.bulk.BulkRegion.PAGE_LENGTH;

import dev.ringfetch.fabric.MemoryRegion;
import java.util.Arrays;

/**
 * The optional fill pattern of free registered memory: code that still reads the memory gets this
 * pattern, and code that has still written to it is detected when the memory is given out again.
 */
final class Poison {
  /** System property: with {@code true} memory is poisoned. It costs two passes over all of it. */
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

  /** Offset of the first byte of these pages that was changed, or -1. */
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
