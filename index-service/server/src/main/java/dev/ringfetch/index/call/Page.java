package dev.ringfetch.index.call;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.layout.EntrySink;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.ScanRequest;
import dev.ringfetch.index.v1.ScanResponse;

/** A page of a scan as it fills, and how many entries are still wanted. Used by one thread. */
final class Page implements EntrySink {
  /** Bytes at which a page ends; the entry that reaches them is in it. */
  static final int MAX_BYTES = 256 << 10;

  /** Entries of a page unless the request says otherwise: a step takes well below a millisecond. */
  static final int ENTRIES_DEFAULT = 1000;

  /** Bytes of an entry's fields besides key and value, about. */
  private static final int ENTRY_OVERHEAD = 16;

  private final boolean keysOnly;
  private final int maxEntries;

  /** Entries still wanted; as an unsigned number. */
  private long left;

  private ScanResponse.Builder response = ScanResponse.newBuilder();
  private int bytes;
  private int passed; // since the page has begun

  Page(ScanRequest request) {
    this(request.getKeysOnly(), maxEntries(request.getPageSize()), request.getLimit());
  }

  private static int maxEntries(int size) {
    return size == 0 || Integer.compareUnsigned(size, ENTRIES_DEFAULT) > 0 ? ENTRIES_DEFAULT : size;
  }

  /** Creates the first page; the limit is unsigned, 0 for none. */
  Page(boolean keysOnly, int maxEntries, long limit) {
    this.keysOnly = keysOnly;
    this.maxEntries = maxEntries;
    left = limit == 0 ? -1 : limit;
  }

  @Override
  public boolean take(
      byte[] array, int keyOffset, int keyLength, int valueLength, long version, long deadline) {
    final Entry.Builder entry =
        Entry.newBuilder()
            .setKey(ByteString.copyFrom(array, keyOffset, keyLength))
            .setVersion(version)
            .setDeadlineMs(deadline);
    if (!keysOnly) {
      entry.setValue(ByteString.copyFrom(array, keyOffset + keyLength, valueLength));
    }
    return add(entry.build());
  }

  @Override
  public int room() {
    final int more = maxEntries - response.getEntriesCount();
    return Long.compareUnsigned(left, more) < 0 ? (int) left : more;
  }

  @Override
  public boolean passes() {
    return ++passed < ENTRIES_DEFAULT;
  }

  /** Adds an entry as it is; returns whether there is room for another. */
  boolean add(Entry entry) {
    response.addEntries(entry);
    bytes += ENTRY_OVERHEAD + entry.getKey().size() + entry.getValue().size();
    left--;
    return left != 0 && response.getEntriesCount() < maxEntries && bytes < MAX_BYTES;
  }

  /** Whether all entries that the request wants have come. */
  boolean isLast() {
    return left == 0;
  }

  /** Whether a page is full, by entries or by bytes. */
  boolean isFull() {
    return response.getEntriesCount() >= maxEntries || bytes >= MAX_BYTES;
  }

  boolean isEmpty() {
    return response.getEntriesCount() == 0;
  }

  /**
   * Finishes the page and begins the next one.
   *
   * @param token of the next page; empty if there is none
   */
  ScanResponse finish(ServedIndex index, ByteString token) {
    response.setIncarnation(index.incarnation()).setNextPageToken(token);
    final ScanResponse finished = response.build();
    response = ScanResponse.newBuilder();
    bytes = 0;
    passed = 0;
    return finished;
  }
}
