package dev.ringfetch.fabric;

/**
 * Memory that two processes reach: registered local memory, or the staging view of a peer's.
 *
 * <p>The order of an access is in its name; accesses without one are plain. Indexes and lengths are
 * in bytes, words are little-endian and aligned to their size. Bounds are checked. A region can be
 * used from any thread; who may store where is a matter of the layout above it.
 *
 * <p>Every method may throw {@link InternalError} where a peer can take memory away underneath (a
 * truncated file); the session that the region belongs to ends then.
 */
public interface MemoryRegion {
  /** Length in bytes. */
  int length();

  /** Loads a 64-bit word. */
  long getLong(int index);

  /** Stores a 64-bit word. */
  void putLong(int index, long value);

  /** Loads a 32-bit word. */
  int getInt(int index);

  /** Stores a 32-bit word. */
  void putInt(int index, int value);

  /** Loads a 64-bit word before any later access. */
  long getLongAcquire(int index);

  /** Stores a 64-bit word after every earlier access. */
  void putLongRelease(int index, long value);

  /** Loads a 32-bit word before any later access. */
  int getIntAcquire(int index);

  /** Stores a 32-bit word after every earlier access. */
  void putIntRelease(int index, int value);

  /** Copies bytes out of the region, in any order. */
  void getBytes(int index, byte[] destination, int offset, int length);

  /** Copies bytes into the region, in any order. */
  void putBytes(int index, byte[] source, int offset, int length);

  /**
   * Orders every earlier load and store before every later one, as the handshakes between a store
   * to one word and a load of another need it.
   */
  void fullFence();
}
