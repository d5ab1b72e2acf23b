package dev.ringfetch.index.store;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Entry;
import java.util.Collection;
import java.util.List;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A past state of an ordered index, for a scan, while the owner continues to write. The owner adds
 * each entry of the state that it replaces or removes, before readers can see the change. The scan
 * finds the other entries in index memory, by their versions.
 *
 * <p>The owner begins it and adds entries; any other thread reads and closes it.
 */
public final class Snapshot {
  private enum State {
    /** The owner has not begun it. */
    NEW,
    OPEN,
    /** The kept entries exceeded the limit and were dropped. */
    EXCEEDED,
    CLOSED
  }

  /** Approximate bytes of an entry besides key and value. */
  private static final int ENTRY_OVERHEAD = 200;

  private final long limit;
  private final AtomicReference<State> state = new AtomicReference<>(State.NEW);
  private final NavigableMap<ByteString, Entry> kept =
      new ConcurrentSkipListMap<>(ByteString.unsignedLexicographicalComparator());
  private volatile long version;
  private volatile long clock;

  /** The owner's. */
  private long bytes;

  /**
   * Creates a snapshot, which the owner of an index begins.
   *
   * @param limit the most bytes of entries that are kept
   */
  public Snapshot(long limit) {
    this.limit = limit;
  }

  /**
   * Begins the snapshot: entries up to this version belong to the state, except for expired ones.
   */
  void begin(long newestVersion, long clockMs) {
    version = newestVersion;
    clock = clockMs;
    final boolean unused = state.compareAndSet(State.NEW, State.OPEN); // unless it was closed
  }

  /** Adds an entry that is about to be replaced or removed, if it belongs to the state. */
  void keep(Entry entry) {
    if (entry.getVersion() > version || hasEnded(entry) || state.get() != State.OPEN) {
      return;
    }
    bytes += entry.getKey().size() + entry.getValue().size() + ENTRY_OVERHEAD;
    if (bytes <= limit) {
      kept.put(entry.getKey(), entry);
    } else if (state.compareAndSet(State.OPEN, State.EXCEEDED)) {
      kept.clear();
    }
  }

  private boolean hasEnded(Entry entry) {
    return entry.getDeadlineMs() != 0 && entry.getDeadlineMs() <= clock;
  }

  /** The clock at the begin: it decides which entries had expired. */
  public long clock() {
    return clock;
  }

  /** Whether entries must be kept. */
  boolean isOpen() {
    return state.get() == State.OPEN;
  }

  /** Whether an entry that was found in index memory belongs to the state. */
  public boolean contains(long entryVersion) {
    return entryVersion <= version;
  }

  /**
   * Whether the limit was exceeded. The reader checks it after {@link #kept} and after its reads of
   * index memory; if true, their results are not valid.
   */
  public boolean isExceeded() {
    return state.get() == State.EXCEEDED;
  }

  /** The most bytes of entries that are kept. */
  public long limit() {
    return limit;
  }

  /**
   * Entries of the state that were replaced or removed, in ascending order.
   *
   * @param from the first key
   * @param to the first key beyond the range; empty if there is none
   */
  public Collection<Entry> kept(ByteString from, ByteString to) {
    if (to.isEmpty()) {
      return kept.tailMap(from, true).values();
    }
    return ByteString.unsignedLexicographicalComparator().compare(from, to) < 0
        ? kept.subMap(from, true, to, false).values()
        : List.of();
  }

  /** Ends it: no more entries are kept. Idempotent. */
  public void close() {
    state.set(State.CLOSED);
    kept.clear();
  }
}
