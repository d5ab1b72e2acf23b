package dev.ringfetch.memory;

/**
 * Reads of the memory of one name. Each load happens after those of the calls before it.
 *
 * <p>Used by one thread at a time. Methods of mapped memory may throw {@link InternalError} when it
 * was taken away; the caller's caller handles it, see {@link dev.ringfetch.fabric.MemoryRegion}.
 */
interface RegionReads {
  /** Loads a word. */
  long load(int offset) throws LostMemoryException;

  /** Copies a range into an array from its begin on. The range begins at a multiple of 8. */
  void copy(int offset, int length, byte[] target) throws LostMemoryException;

  /** True if a load takes no round trip. */
  boolean isMapped();

  /** Ends the error of a read of mapped memory that was taken away; throws it if none is mapped. */
  default void absorb(InternalError fault) {
    throw fault;
  }

  /** Returns normally if all that was loaded before this call was granted. */
  void verify() throws LostMemoryException;
}
