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

  /**
   * Copies a range, whose words are each loaded whole.
   *
   * @param offset a multiple of 8.
   * @param target has space for {@code length} rounded up to a multiple of 8.
   */
  void copy(int offset, int length, byte[] target) throws LostMemoryException;

  /** True if a copy loads from the lowest word up. */
  boolean isAscending();

  /** Handles the error of a read that met memory which was taken away; throws any other. */
  default void absorb(InternalError fault) {
    throw fault;
  }

  /** Returns normally if all that was loaded before this call was granted. */
  void verify() throws LostMemoryException;
}
