package dev.ringfetch.index.replication;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.store.EntryStore;
import dev.ringfetch.index.v1.Entry;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Entries on the heap, in the order of their keys; there is room for all. */
class HeapEntries implements EntryStore {
  private final NavigableMap<ByteString, Entry> entries =
      new TreeMap<>(ByteString.unsignedLexicographicalComparator());

  /** The entries by their keys. */
  final Map<ByteString, Entry> entries() {
    return entries;
  }

  @Override
  public final long version(ByteString key) {
    final Entry entry = entries.get(key);
    return entry == null ? 0 : entry.getVersion();
  }

  @Override
  public final Entry entry(ByteString key) {
    return entries.get(key);
  }

  @Override
  public final @Nullable Entry last() {
    return entries.isEmpty() ? null : entries.lastEntry().getValue();
  }

  @Override
  public final int reserve(int keyLength, int valueLength) {
    return 0;
  }

  @Override
  public final void release(int keyLength, int valueLength) {
    // There is room for all.
  }

  @Override
  public void put(ByteString key, ByteString value, long version) {
    entries.put(key, Entry.newBuilder().setKey(key).setValue(value).setVersion(version).build());
  }

  @Override
  public final boolean delete(ByteString key) {
    return entries.remove(key) != null;
  }

  @Override
  public final boolean grow() {
    return false;
  }

  @Override
  public final long count() {
    return entries.size();
  }
}
