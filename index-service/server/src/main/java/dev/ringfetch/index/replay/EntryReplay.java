package dev.ringfetch.index.replay;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.store.EntryStore;
import java.io.IOException;

/** The effect of single records on the store of their partition. */
final class EntryReplay {
  private EntryReplay() {}

  /** Carries a record out, unless the store has a later one of the key. */
  static void apply(EntryStore store, JournalRecord record) throws IOException {
    switch (record.type()) {
      case RecordDescriptor.TICK -> store.expiry().advance(record.number());
      case RecordDescriptor.PUT -> put(store, record);
      case RecordDescriptor.DELETE -> delete(store, record);
      default -> throw new IllegalArgumentException("changes no entry: " + record);
    }
  }

  private static void put(EntryStore store, JournalRecord record) throws IOException {
    final ByteString key = record.keyView(); // the store copies what it keeps
    final ByteString value = record.valueView();
    final long deadline = record.deadline();
    // The look at the version also finds the place that the put takes.
    if (store.version(key) >= record.lsn()) {
      return;
    }
    if (store.reserve(key.size(), value.size(), deadline != 0) != 0) {
      throw new MemoryTooSmallException(null);
    }
    store.put(key, value, record.lsn(), deadline);
    store.grow();
  }

  private static void delete(EntryStore store, JournalRecord record) {
    final ByteString key = record.keyView();
    if (store.version(key) < record.lsn()) {
      store.delete(key);
    }
  }
}
