package dev.ringfetch.index.watch;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.filter.EntryFilter;
import dev.ringfetch.index.layout.KeyBounds;
import dev.ringfetch.index.layout.SpatialQuery;
import dev.ringfetch.index.v1.WatchEvent;
import dev.ringfetch.index.v1.WatchResponse;
import org.jspecify.annotations.Nullable;

/**
 * The changes of one response: those of a range or of a box, up to a limit.
 *
 * <p>Used by one thread at a time.
 */
public final class EventBatch {
  /** Limit of the changes of a response. */
  static final int EVENTS_MAX = 1000;

  /** Bytes after which a response accepts no more changes. */
  static final int BYTES_MAX = 256 << 10;

  private final ByteString start;
  private final ByteString end;
  private final @Nullable SpatialQuery box; // null: all entries of the range
  private final @Nullable EntryFilter filter;
  private final boolean keysOnly;
  private WatchResponse.Builder response = WatchResponse.newBuilder();
  private int bytes;

  /**
   * Creates an empty batch.
   *
   * @param start the first key of the range
   * @param end the first key beyond the range; empty if there is none
   * @param box of a spatial index, in which an entry was or is; null for any place
   * @param filter of the entries that were written; null for all
   * @param keysOnly whether values are omitted
   */
  public EventBatch(
      ByteString start,
      ByteString end,
      @Nullable SpatialQuery box,
      @Nullable EntryFilter filter,
      boolean keysOnly) {
    this.start = start;
    this.end = end;
    this.box = box;
    this.filter = filter;
    this.keysOnly = keysOnly;
  }

  /**
   * Adds a change if its key is in the range, its entry was or is in the box, and of the filter.
   */
  boolean add(Change change) {
    final ByteString key = change.key();
    if (KeyBounds.compare(key, start) < 0 || (!end.isEmpty() && KeyBounds.compare(key, end) >= 0)) {
      return false;
    }
    WatchEvent.Crossing crossing = WatchEvent.Crossing.CROSSING_UNSPECIFIED;
    if (box != null) {
      crossing = change.crossing(box);
      if (crossing == WatchEvent.Crossing.CROSSING_UNSPECIFIED) {
        return false;
      }
    }
    if (filter != null
        && change.kind() == WatchEvent.Kind.PUT
        && crossing != WatchEvent.Crossing.LEAVE // what it was is not known
        && !filter.accepts(key, change.value(), change.version())) {
      return false;
    }
    final WatchEvent.Builder event =
        WatchEvent.newBuilder()
            .setKind(change.kind())
            .setCrossing(crossing)
            .setKey(key)
            .setVersion(change.version())
            .setCreated(change.created());
    bytes += key.size();
    if (!keysOnly) {
      event.setValue(change.value());
      bytes += change.value().size();
    }
    response.addEvents(event);
    return true;
  }

  boolean hasRoom() {
    return response.getEventsCount() < EVENTS_MAX && bytes < BYTES_MAX;
  }

  /** Whether it has no changes. */
  public boolean isEmpty() {
    return response.getEventsCount() == 0;
  }

  /** Returns the response, and clears the batch. */
  public WatchResponse take(ByteString token, long incarnation) {
    final WatchResponse taken = response.setToken(token).setIncarnation(incarnation).build();
    response = WatchResponse.newBuilder();
    bytes = 0;
    return taken;
  }
}
