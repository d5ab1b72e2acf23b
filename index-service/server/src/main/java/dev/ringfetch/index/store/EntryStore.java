package dev.ringfetch.index.store;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Entry;
import org.jspecify.annotations.Nullable;

/**
 * The committed entries of one partition, as its owner sees them. Memory for a put is reserved
 * before the put, so that a put whose record is committed cannot fail.
 *
 * <p>Only the partition's owner calls these methods; an owner sees the effects of all earlier
 * owners. Readers of an implementation are separate.
 */
public interface EntryStore {
  /** Returns the version of a key's entry, 0 if there is none. */
  long version(ByteString key);

  /**
   * Deadline of the entry that the last {@link #version} or {@link #entry} found, in milliseconds
   * since 1970; 0 if it has none.
   */
  default long deadline() {
    return 0;
  }

  /** The clock and the deadlines of the entries; null if entries have no deadlines here. */
  default @Nullable Expiry expiry() {
    return null;
  }

  /** Returns the entry of a key as an immutable object, or null if there is none. */
  @Nullable Entry entry(ByteString key);

  /**
   * Checks whether the key of the last {@link #version} or {@link #entry} can be put with a value
   * of this length in bytes.
   *
   * @return 0; or {@link PartitionStore#TOO_MANY_COLLISIONS} or {@link
   *     PartitionStore#COLLISIONS_TOO_LONG}, which are negative.
   */
  default int admit(int valueLength) {
    return 0;
  }

  /** Whether the store can have a value, whatever its key is. */
  default boolean accepts(ByteString value) {
    return true;
  }

  /**
   * The place of a value, which records keep of a replaced or removed entry: its box in a spatial
   * index; empty in others.
   */
  default ByteString place(ByteString value) {
    return ByteString.EMPTY;
  }

  /** The place of the entry of a key; empty if there is none. */
  default ByteString placeOf(ByteString key) {
    return ByteString.EMPTY;
  }

  /** The number of keys or bytes by which the last {@link #admit} was refused. */
  default long excess() {
    return 0;
  }

  /**
   * Reserves memory for one {@link #put} of a key and value of these lengths.
   *
   * @param keyLength length of the key in bytes.
   * @param valueLength length of the value in bytes.
   * @return 0; or {@link PartitionStore#FULL} or {@link PartitionStore#TOO_LONG}, which are
   *     negative, if nothing was reserved.
   */
  int reserve(int keyLength, int valueLength);

  /** Same, for a put that may have a deadline. */
  default int reserve(int keyLength, int valueLength, boolean hasDeadline) {
    return reserve(keyLength, valueLength);
  }

  /** Returns a reservation that no put will use. */
  void release(int keyLength, int valueLength);

  /** Same, for a put that may have a deadline. */
  default void release(int keyLength, int valueLength, boolean hasDeadline) {
    release(keyLength, valueLength);
  }

  /**
   * Writes an entry, visible to readers at once, and consumes one reservation of its lengths.
   *
   * @param version of the entry, larger than all earlier ones.
   */
  void put(ByteString key, ByteString value, long version);

  /**
   * Same, for an entry that may have a deadline.
   *
   * @param deadline in milliseconds since 1970; 0 if there is none.
   */
  default void put(ByteString key, ByteString value, long version, long deadline) {
    if (deadline != 0) {
      throw new UnsupportedOperationException("no deadlines: deadline=" + deadline);
    }
    put(key, value, version);
  }

  /** Removes the entry of a key, for readers at once; returns whether there was one. */
  boolean delete(ByteString key);

  /**
   * Grows the store by one bounded step if necessary. The owner calls it once per cycle with puts,
   * and as long as it returns true.
   *
   * @return true while there is more to do.
   */
  boolean grow();

  /** Number of entries. */
  long count();

  /**
   * The entry with the greatest key; null if there is none.
   *
   * @throws UnsupportedOperationException if the store has no order of keys
   */
  default @Nullable Entry last() {
    throw new UnsupportedOperationException("no order");
  }

  /** Bytes of index memory that the blocks of the entries take. */
  default long bytes() {
    return 0;
  }

  /**
   * Throws {@link InternalError} if memory that the calling thread has accessed was unmapped. The
   * owner calls it before it trusts its loads and stores.
   */
  default void verify() {}

  /**
   * Begins a snapshot of the present entries, and keeps replaced and removed entries for it from
   * now on.
   *
   * @throws UnsupportedOperationException if the store has no order of keys
   */
  default void begin(Snapshot snapshot) {
    throw new UnsupportedOperationException("no snapshots");
  }

  /**
   * Advances a walk by one bounded step.
   *
   * @throws UnsupportedOperationException if the store has no journal, and so no snapshots
   */
  default void step(EntryWalk walk) {
    throw new UnsupportedOperationException("no walks");
  }

  /**
   * Checks the memory that leads readers to a key. The owner calls it when a reader could not
   * decide.
   *
   * @throws StoreDamagedException if memory is not as the owner left it
   */
  default void check(ByteString key) {}

  /** Whether the store was found damaged, by this owner or by that of another partition. */
  default boolean isRefused() {
    return false;
  }

  /**
   * Refuses the whole index for good, because its memory was found damaged.
   *
   * @param damage a {@link StoreDamagedException}, or the {@link InternalError} of unmapped memory.
   */
  default void refuse(Throwable damage) {}
}
