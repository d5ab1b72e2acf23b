package dev.ringfetch.index.direct;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.filter.StepSink;
import dev.ringfetch.index.layout.EntrySink;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.ScanResponse;

/**
 * A step of a scan or a search: passes entries from memory or from a page on to a sink. Its size is
 * limited, so that the reader checks its grant from time to time. Used by one thread at a time.
 */
final class ScanStep implements EntrySink {
  /** Limit of the entries of a step in memory, which takes well below a millisecond. */
  static final int ENTRIES = 1000;

  /**
   * Limit of the entries that a step skips, as they have expired or are not of the filter; to skip
   * one takes about as long as to deliver one.
   */
  private static final int PASSED = 1000;

  /** Bytes of keys and values that end a step in memory. */
  private static final int BYTES = 256 << 10;

  private final DirectEntry entry = new DirectEntry();
  private byte[] copy = new byte[256]; // of an entry of a page
  private DirectReading reading;
  private DirectSink sink;
  private GrantedIndex granted;
  private int given;
  private int bytes;
  private int passed;
  private boolean wantsMore;

  /** Continues in memory. */
  ReadResult read(DirectReading of, DirectSink to, GrantedIndex from) {
    begin(of, to);
    granted = from;
    try {
      final ReadResult result =
          of.read(from, of.filter() == null ? this : new StepSink(of.filter(), this));
      if (passed > 0 || (result != ReadResult.CLOSED && result != ReadResult.LOST)) {
        of.incarnation(from.incarnation()); // also if the filter has refused all so far
      }
      if (result == ReadResult.ABSENT) {
        of.end();
      }
      return result;
    } finally {
      release();
    }
  }

  /** Passes on the entries of a page; returns whether the sink continues. */
  boolean take(DirectScan of, DirectSink to, ScanResponse page) {
    begin(of, to);
    try {
      of.begin(page);
      for (int i = 0; wantsMore && !of.isDone() && i < page.getEntriesCount(); i++) {
        take(of, page.getEntries(i));
      }
      if (wantsMore) {
        of.end(page);
      }
      return wantsMore;
    } finally {
      release();
    }
  }

  private void begin(DirectReading of, DirectSink to) {
    reading = of;
    sink = to;
    given = 0;
    bytes = 0;
    passed = 0;
    wantsMore = true;
  }

  /** Releases all references. */
  private void release() {
    reading = null;
    sink = null;
    granted = null;
  }

  private void take(DirectScan scan, Entry found) {
    scan.pass(found);
    final ByteString key = found.getKey();
    final ByteString value = scan.isKeysOnly() ? ByteString.EMPTY : found.getValue();
    final int length = key.size() + value.size();
    if (copy.length < length) {
      copy = new byte[Math.max(length, 2 * copy.length)];
    }
    key.copyTo(copy, 0);
    value.copyTo(copy, key.size());
    entry.set(copy, 0, key.size(), value.size());
    entry.stamp(found.getVersion(), found.getDeadlineMs());
    given++;
    wantsMore = sink.take(entry);
  }

  @Override
  public boolean take(
      byte[] array, int keyOffset, int keyLength, int valueLength, long version, long deadline) {
    reading.incarnation(granted.incarnation());
    entry.set(array, keyOffset, keyLength, reading.isKeysOnly() ? 0 : valueLength);
    entry.stamp(version, deadline);
    reading.count();
    given++;
    bytes += keyLength + valueLength;
    wantsMore = sink.take(entry);
    return wantsMore && !reading.isDone() && given < ENTRIES && bytes < BYTES;
  }

  @Override
  public boolean passes() {
    return ++passed < PASSED;
  }

  @Override
  public int room() {
    return reading.room(ENTRIES - given);
  }

  @Override
  public boolean admits() {
    return granted.isGranted();
  }

  /** Number of entries that the step has delivered. */
  int given() {
    return given;
  }

  /** Whether the sink has not stopped it. */
  boolean wantsMore() {
    return wantsMore;
  }
}
