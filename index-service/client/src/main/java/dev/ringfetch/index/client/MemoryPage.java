package dev.ringfetch.index.client;

import dev.ringfetch.index.direct.DirectEntry;
import dev.ringfetch.index.direct.DirectSink;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.ScanResponse;

/** A page of entries out of an index's memory, as it fills. Used by one thread. */
final class MemoryPage implements DirectSink {
  /** Bytes of keys and values that end a page. */
  private static final int BYTES = 256 << 10;

  private final boolean keysOnly;
  private final int most;
  private final ScanResponse.Builder page = ScanResponse.newBuilder();
  private int bytes;

  /**
   * Creates an empty page.
   *
   * @param most entries that end it
   */
  MemoryPage(boolean keysOnly, int most) {
    this.keysOnly = keysOnly;
    this.most = most;
  }

  @Override
  public boolean take(DirectEntry found) {
    final Entry.Builder entry =
        Entry.newBuilder()
            .setKey(found.key())
            .setVersion(found.version())
            .setDeadlineMs(found.deadline());
    if (!keysOnly) {
      entry.setValue(found.value());
    }
    page.addEntries(entry);
    bytes += found.keyLength() + found.valueLength();
    return page.getEntriesCount() < most && bytes < BYTES;
  }

  boolean isEmpty() {
    return page.getEntriesCount() == 0;
  }

  /**
   * The page; it takes no more entries.
   *
   * @param incarnation of the index.
   */
  ScanResponse build(long incarnation) {
    return page.setIncarnation(incarnation).build();
  }
}
