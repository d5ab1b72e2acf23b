package dev.ringfetch.index.store;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Entry;

/**
 * The entries of a partition in index memory, as its owner sees and changes them. Readers see each
 * change as soon as the method returns, and some part of them earlier.
 *
 * <p>Used by one thread at a time, and what one thread did must happen before what the next does.
 */
@SuppressWarnings({"DoNotCallSuggester", "UnusedVariable"})
public final class PartitionStore {
  /** Returned by {@link #reserve}: index memory is used up. Reads and deletes go on. */
  public static final int FULL = -1;

  /** Returned by {@link #reserve}: no block is long enough for such an entry. */
  public static final int TOO_LONG = -2;

  /** The highest version: 48 bits. */
  public static final long MAX_VERSION = (1L << 48) - 1;

  PartitionStore() {}

  /** Version of a key's entry, or 0 if it has none. */
  public long version(ByteString key) {
    throw new UnsupportedOperationException("body follows");
  }

  /** The entry of a key, or null if it has none. */
  public Entry entry(ByteString key) {
    throw new UnsupportedOperationException("body follows");
  }

  /**
   * Reserves memory for one put, so that the put cannot fail.
   *
   * @return 0, or {@link #FULL} or {@link #TOO_LONG}, which are negative
   */
  public int reserve(int keyLength, int valueLength) {
    throw new UnsupportedOperationException("body follows");
  }

  /** Gives the reservation of a put back that does not come. */
  public void release(int keyLength, int valueLength) {
    throw new UnsupportedOperationException("body follows");
  }

  /**
   * Stores an entry in place of the key's former one, if there is one. Consumes a reservation with
   * these lengths.
   *
   * @param version from 1 to {@link #MAX_VERSION}, higher than that of each earlier put here
   */
  public void put(ByteString key, ByteString value, long version) {
    throw new UnsupportedOperationException("body follows");
  }

  /** Removes the entry of a key; returns whether there was one. */
  public boolean delete(ByteString key) {
    throw new UnsupportedOperationException("body follows");
  }

  /**
   * Does one bounded piece of growth. The owner calls it once in each duty cycle that puts.
   *
   * @return whether there is more to do
   */
  public boolean grow() {
    throw new UnsupportedOperationException("body follows");
  }

  /** Number of entries. Safe for use by many threads. */
  public long count() {
    throw new UnsupportedOperationException("body follows");
  }
}
