package dev.ringfetch.index.call;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.filter.EntryFilter;
import dev.ringfetch.index.layout.ScanCursor;
import dev.ringfetch.index.partition.OwnerTask;
import dev.ringfetch.index.store.Snapshot;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.ScanRequest;
import dev.ringfetch.index.v1.ScanResponse;
import io.grpc.Status;
import java.util.ArrayDeque;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The call of a scan of a snapshot: the owner begins the snapshot, and each step puts together what
 * is in index memory, as far as it is old enough, and what the owner has kept of the same keys.
 */
final class SnapshotScanCall extends SteppedCall<ScanResponse> {
  /** Bytes of replaced entries that one snapshot keeps. */
  static final int KEPT_BYTES = 16 << 20;

  /** Entries that one step looks at. */
  private static final int STEP = Page.ENTRIES_DEFAULT;

  private final ScanCursor cursor;
  private final @Nullable EntryFilter filter;
  private final Page page;
  private final boolean all;
  private final boolean keysOnly;
  private final ByteString start;
  private final ByteString end;
  private final Snapshot snapshot = new Snapshot(KEPT_BYTES);

  private @Nullable OwnerTask beginning; // null until it was submitted

  private volatile boolean begun;

  /** Whether the call is one of the scans of snapshots that are counted. */
  private boolean isCounted;

  /** Where the step begins: as the cursor's place. */
  private ByteString from;

  private boolean rangeEnds;

  // Of a step.
  private final NavigableMap<ByteString, Entry> entries =
      new TreeMap<>(ByteString.unsignedLexicographicalComparator());
  private int looked;
  private int steps; // of the call
  private int bytes;

  /** Entries to be answered, in the order of the scan. */
  private final ArrayDeque<Entry> pending = new ArrayDeque<>();

  /**
   * Creates the call.
   *
   * @param all whether all pages are answers, as fast as the client takes them
   */
  SnapshotScanCall(
      RangeReading range,
      ScanRequest request,
      CallSignals<ScanResponse> signals,
      RangeCalls calls,
      boolean all) {
    super(range, signals, calls);
    this.cursor = range.cursor();
    this.filter = range.filter();
    this.page = new Page(request);
    this.all = all;
    keysOnly = request.getKeysOnly();
    start = Ranges.start(request.getRange());
    end = Ranges.end(request.getRange());
    from = cursor.place();
  }

  @Override
  Next ready() {
    if (!isCounted) {
      isCounted = calls.beginSnapshot();
      if (!isCounted) {
        return fail(
            Outcomes.overloaded("too many scans of snapshots: limit=" + RangeCalls.MAX_SNAPSHOTS));
      }
    }
    if (beginning == null) {
      beginning = OwnerTask.snapshot(snapshot, task -> begun());
      final int refused = index.partition(ByteString.EMPTY).submit(beginning);
      if (refused != 0) {
        return fail(calls.outcomes().status(index, refused));
      }
    }
    if (!begun) {
      return Next.WAIT;
    }
    if (beginning.outcome() != OwnerTask.DONE) {
      return fail(calls.outcomes().status(index, beginning.outcome()));
    }
    if (all && !responses.isReady()) {
      return Next.WAIT;
    }
    return pending.isEmpty() && !rangeEnds ? Next.STEP : answer();
  }

  private void begun() {
    begun = true;
    driveLater(); // not here: other answers wait
  }

  @Override
  public boolean take(
      byte[] array, int keyOffset, int keyLength, int valueLength, long version, long deadline) {
    if (snapshot.contains(version)) {
      final ByteString key = ByteString.copyFrom(array, keyOffset, keyLength);
      final Entry.Builder entry =
          Entry.newBuilder().setKey(key).setVersion(version).setDeadlineMs(deadline);
      if (!keysOnly) {
        entry.setValue(ByteString.copyFrom(array, keyOffset + keyLength, valueLength));
        bytes += valueLength;
      }
      bytes += keyLength;
      entries.put(key, entry.build());
    }
    return ++looked < STEP && bytes < Page.MAX_BYTES;
  }

  /** The state's: what has ended since belongs to it. */
  @Override
  public long clock() {
    return snapshot.clock();
  }

  @Override
  Next stepped(boolean isEnd) {
    // If a key was read before the owner replaced its entry, the owner has kept the same entry.
    final boolean reverse = cursor.isReverse();
    final ByteString to = isEnd ? (reverse ? start : end) : cursor.place();
    for (final Entry kept : reverse ? snapshot.kept(to, from) : snapshot.kept(from, to)) {
      if (filter == null || filter.accepts(kept)) {
        entries.put(kept.getKey(), keysOnly ? kept.toBuilder().clearValue().build() : kept);
      }
    }
    if (snapshot.isExceeded()) {
      return fail(
          Status.ABORTED.withDescription(
              "too much was written during the scan of a snapshot: limit="
                  + snapshot.limit()
                  + " bytes of replaced entries"));
    }
    pending.addAll((reverse ? entries.descendingMap() : entries).values());
    entries.clear();
    looked = 0;
    bytes = 0;
    from = to;
    rangeEnds = isEnd;
    final boolean isDue = filter != null && ++steps % ScanCall.STEPS == 0;
    return pending.isEmpty() && !isEnd && !isDue ? Next.STEP : answer();
  }

  /** Answers a page of what is pending. */
  private Next answer() {
    ByteString place = cursor.place();
    boolean hasRoom = true;
    while (hasRoom && !pending.isEmpty()) {
      final Entry entry = pending.remove();
      hasRoom = page.add(entry);
      place =
          cursor.isReverse()
              ? entry.getKey()
              : entry.getKey().concat(ByteString.copyFrom(new byte[1]));
    }
    final boolean isEnd = rangeEnds && pending.isEmpty();
    final boolean isLast = isEnd || page.isLast();
    final ByteString token =
        isEnd ? ByteString.EMPTY : Ranges.token(cursor.isReverse(), place, index.incarnation());
    if (!all) {
      WriteCall.answer(responses, page.finish(index, token));
      return Next.END;
    }
    if (!page.isEmpty() || !isLast) { // an empty one tells the client that the scan goes on
      responses.onNext(page.finish(index, token));
    }
    if (isLast) {
      responses.onCompleted();
      return Next.END;
    }
    driveLater();
    return Next.WAIT;
  }

  @Override
  void ended() {
    snapshot.close();
    if (isCounted) {
      calls.endSnapshot();
    }
  }
}
