package dev.ringfetch.index.store;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Entry;
import java.util.Collection;
import java.util.List;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A state of an ordered index that a scan reads while the owner writes on. The owner keeps here
 * each entry of the state that it replaces or removes, before readers can see that; the scan finds
 * the others in index memory, by their versions.
 *
 * <p>The owner begins it and keeps entries; any other thread reads and closes it.
 */
public final class Snapshot {
  private enum State {
    /** The owner has not begun it. */
    NEW,
    OPEN,
    /** More was to be kept than may be; what there was is gone. */
    EXCEEDED,
    CLOSED
  }

  /** Bytes that an entry takes besides key and value, about. */
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

  /** Begins: entries up to this version belong to the state, but for those that had ended. */
  void begin(long newestVersion, long clockMs) {
    version = newestVersion;
    clock = clockMs;
    final boolean unused = state.compareAndSet(State.NEW, State.OPEN); // unless it was closed
  }

  /** Keeps an entry that is about to be replaced or removed, if it belongs to the state. */
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

  /** The clock at the begin, by which entries of the state are absent. */
  public long clock() {
    return clock;
  }

  /** Whether entries are to be kept. */
  boolean isOpen() {
    return state.get() == State.OPEN;
  }

  /** Whether an entry that was found in index memory belongs to the state. */
  public boolean contains(long entryVersion) {
    return entryVersion <= version;
  }

  /**
   * Whether more was to be kept than may be. To be looked at after {@link #kept} and after all that
   * was read in index memory: if so, none of it is of use.
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
   * @param to the first key beyond; empty: there is none
   */
  public Collection<Entry> kept(ByteString from, ByteString to) {
    if (to.isEmpty()) {
      return kept.tailMap(from, true).values();
    }
    return ByteString.unsignedLexicographicalComparator().compare(from, to) < 0
        ? kept.subMap(from, true, to, false).values()
        : List.of();
  }

  /** Ends it: nothing is kept any more. May be called more than once. */
  public void close() {
    state.set(State.CLOSED);
    kept.clear();
  }
}
