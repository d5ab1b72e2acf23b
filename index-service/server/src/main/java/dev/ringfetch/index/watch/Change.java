package dev.ringfetch.index.watch;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.WatchEvent;
import org.jspecify.annotations.Nullable;

/**
 * One committed change of one key. Immutable.
 *
 * @param kind of the change
 * @param key the key
 * @param value empty unless an entry was written
 * @param version LSN of the change in its partition
 * @param created whether the key was absent before, and an entry was written
 */
record Change(
    WatchEvent.Kind kind, ByteString key, ByteString value, long version, boolean created) {
  /** Approximate bytes of memory of a change besides key and value. */
  private static final int OVERHEAD = 128;

  /** The change in an in-memory record; null if the record changes no entry. */
  static @Nullable Change of(Write record) {
    return switch (record.kind()) {
      case PUT, COMPARE_AND_SET, INCREMENT, TOUCH ->
          new Change(
              WatchEvent.Kind.PUT,
              record.key(),
              record.value(),
              record.version(),
              record.creates());
      case DELETE, RANGE_DELETE ->
          new Change(
              record.isExpired() ? WatchEvent.Kind.EXPIRE : WatchEvent.Kind.DELETE,
              record.key(),
              ByteString.EMPTY,
              record.version(),
              false);
      default -> null;
    };
  }

  /** The change in a record of the journal; null if the record changes no entry. */
  static @Nullable Change of(JournalRecord record) {
    final int flags = record.flags();
    return switch (record.type()) {
      case RecordDescriptor.PUT ->
          new Change(
              WatchEvent.Kind.PUT,
              record.key(),
              record.value(),
              record.lsn(),
              (flags & RecordDescriptor.POSITIVE) != 0);
      case RecordDescriptor.DELETE ->
          new Change(
              (flags & RecordDescriptor.EXPIRED) != 0
                  ? WatchEvent.Kind.EXPIRE
                  : WatchEvent.Kind.DELETE,
              record.key(),
              ByteString.EMPTY,
              record.lsn(),
              false);
      default -> null;
    };
  }

  /** Approximate bytes of memory. */
  int bytes() {
    return OVERHEAD + key.size() + value.size();
  }
}
