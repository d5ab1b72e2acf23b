package dev.ringfetch.index.watch;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.layout.SpatialQuery;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.WatchEvent;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One committed change of one key, and the next one of the same record, if that is a transaction's:
 * the changes of a record are kept, dropped and sent together. Immutable.
 *
 * @param kind of the change
 * @param key the key
 * @param value empty unless an entry was written
 * @param version LSN of the change in its partition
 * @param created whether the key was absent before, and an entry was written
 * @param former box of the entry that was replaced or removed; empty if there was none, or it is
 *     not known
 * @param next of the same record; null if there is none
 */
record Change(
    WatchEvent.Kind kind,
    ByteString key,
    ByteString value,
    long version,
    boolean created,
    ByteString former,
    @Nullable Change next) {
  /** Approximate bytes of memory of a change besides key and value. */
  private static final int OVERHEAD = 128;

  /** The changes in an in-memory record; null if the record changes no entry. */
  static @Nullable Change of(Write record) {
    return chain(record.firstPart());
  }

  private static @Nullable Change chain(@Nullable Write part) {
    if (part == null) {
      return null;
    }
    final Change next = chain(part.nextPart());
    return switch (part.kind()) {
      case PUT, COMPARE_AND_SET, INCREMENT, TOUCH ->
          new Change(
              WatchEvent.Kind.PUT,
              part.key(),
              part.value(),
              part.version(),
              part.creates(),
              part.former(),
              next);
      case DELETE, RANGE_DELETE ->
          new Change(
              part.isExpired() ? WatchEvent.Kind.EXPIRE : WatchEvent.Kind.DELETE,
              part.key(),
              ByteString.EMPTY,
              part.version(),
              false,
              part.former(),
              next);
      default -> next;
    };
  }

  /** The changes in a record of the journal; null if the record changes no entry. */
  static @Nullable Change of(JournalRecord record) {
    if (record.type() != RecordDescriptor.TRANSACTION) {
      return of(record, null);
    }
    Change first = null;
    final List<JournalRecord> parts = Objects.requireNonNull(record.parts(), "parts");
    for (int i = parts.size() - 1; i >= 0; i--) {
      first = of(parts.get(i), first);
    }
    return first;
  }

  private static @Nullable Change of(JournalRecord part, @Nullable Change next) {
    final int flags = part.flags();
    return switch (part.type()) {
      case RecordDescriptor.PUT ->
          new Change(
              WatchEvent.Kind.PUT,
              part.key(),
              part.value(),
              part.lsn(),
              (flags & RecordDescriptor.POSITIVE) != 0,
              part.former(),
              next);
      case RecordDescriptor.DELETE ->
          new Change(
              (flags & RecordDescriptor.EXPIRED) != 0
                  ? WatchEvent.Kind.EXPIRE
                  : WatchEvent.Kind.DELETE,
              part.key(),
              ByteString.EMPTY,
              part.lsn(),
              false,
              part.former(),
              next);
      default -> next;
    };
  }

  /**
   * What the change means for a box of a spatial index; unspecified if it means nothing. A record
   * that replaces or removes an entry and does not say from where counts as one from the box.
   */
  WatchEvent.Crossing crossing(SpatialQuery box) {
    final boolean wasIn = former.isEmpty() ? !created : box.accepts(former);
    final boolean isIn = !value.isEmpty() && box.accepts(value);
    if (isIn) {
      return wasIn ? WatchEvent.Crossing.MOVE : WatchEvent.Crossing.ENTER;
    }
    return wasIn ? WatchEvent.Crossing.LEAVE : WatchEvent.Crossing.CROSSING_UNSPECIFIED;
  }

  /** Approximate bytes of memory, with all changes of the record. */
  int bytes() {
    int bytes = 0;
    for (Change change = this; change != null; change = change.next) {
      bytes += OVERHEAD + change.key.size() + change.value.size() + change.former.size();
    }
    return bytes;
  }
}
