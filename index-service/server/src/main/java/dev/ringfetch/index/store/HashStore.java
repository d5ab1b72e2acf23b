package dev.ringfetch.index.store;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Entry;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;

/**
 * An index in memory: finds entries by key, in no order.
 *
 * <p>Entries are the immutable protobuf messages that go into answers, and keys and values are
 * those of the request messages: nothing is copied on the way in or out. So the byte strings given
 * to a store must not be views of memory that changes later, and keep no more memory alive than
 * their own bytes; those of a message that protobuf parsed in the usual way are such.
 *
 * <p>Safe for use by many threads. Each operation is atomic, and linearizable with all others on
 * the same key; reads take no lock. Nothing spans keys.
 *
 * <p>Versions of a key strictly grow in the order of its writes, across deletes too. Writes of a
 * key exclude each other, and each takes its version, inside of that exclusion, from the one
 * counter to which the key always belongs. A compare-and-set loop could not promise this: between
 * taking a version and placing the entry, others could insert a newer one and delete it again.
 * Versions count from the creation of the store.
 */
public final class HashStore {
  private final ConcurrentHashMap<ByteString, Entry> entries = new ConcurrentHashMap<>();
  private final VersionStripes versions = new VersionStripes();

  /** Returns the entry of a key, or null if there is none. */
  public Entry get(ByteString key) {
    return entries.get(key);
  }

  /** Writes an entry, whether or not there was one. */
  public PutResult put(ByteString key, ByteString value) {
    final Write write = new Write(value, false, 0);
    final Entry entry = entries.compute(key, write);
    return new PutResult(entry.getVersion(), write.created);
  }

  /** Removes the entry of a key; returns whether there was one. */
  public boolean delete(ByteString key) {
    return entries.remove(key) != null;
  }

  /**
   * Writes an entry if the one that is there has the expected version, or, when 0 is expected, if
   * there is none.
   */
  public CompareResult compareAndSet(ByteString key, long expectedVersion, ByteString value) {
    final Write write = new Write(value, true, expectedVersion);
    final Entry entry = entries.compute(key, write);
    return new CompareResult(write.applied, entry);
  }

  /**
   * Result of a put.
   *
   * @param version the version that the entry has now
   * @param created whether the key was absent before
   */
  public record PutResult(long version, boolean created) {}

  /**
   * Result of a compare-and-set.
   *
   * @param applied whether the value was written
   * @param entry the entry as it is afterwards, or null if there is none
   */
  public record CompareResult(boolean applied, Entry entry) {}

  /**
   * A write, as the map runs it while it excludes other writes of the key. It keeps its findings in
   * its own fields, for the calling thread.
   */
  private final class Write implements BiFunction<ByteString, Entry, Entry> {
    private final ByteString value;

    /** Apart from the version because each number may be expected, by a hostile client at least. */
    private final boolean conditional;

    private final long expectedVersion;
    private boolean applied;
    private boolean created;

    Write(ByteString value, boolean conditional, long expectedVersion) {
      this.value = value;
      this.conditional = conditional;
      this.expectedVersion = expectedVersion;
    }

    @Override
    public Entry apply(ByteString key, Entry before) {
      final long versionBefore = before == null ? 0 : before.getVersion();
      if (conditional && versionBefore != expectedVersion) {
        return before;
      }
      applied = true;
      created = before == null;
      return Entry.newBuilder()
          // The bytes that the map already has as its key, so that equal bytes are not stored
          // twice.
          .setKey(before == null ? key : before.getKey())
          .setValue(value)
          .setVersion(versions.next(key.hashCode()))
          .build();
    }
  }
}
