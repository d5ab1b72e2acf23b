package dev.ringfetch.fabric;

/**
 * Memory that two processes reach: registered local memory, or the staging view of a peer's.
 *
 * <p>The order of an access is in its name; accesses without one are plain. Indexes and lengths are
 * in bytes, words are little-endian and aligned to their size. Bounds are checked. A region can be
 * used from any thread; the layout above it determines which side may store where.
 *
 * <p>Where a peer can take memory away (by truncating a file), loads then return anything and
 * stores have no effect. The JVM throws the {@link InternalError} late: from a later method of this
 * region, or from other code of the thread, at the latest from {@link #verify()}. The session that
 * the region belongs to ends then.
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
   * Orders every earlier load and store before every later one, as needed for handshakes between a
   * store to one word and a load of another.
   */
  void fullFence();

  /**
   * Throws {@link InternalError} here if an earlier access of this thread met memory that was taken
   * away. Call it inside the {@code try} that handles the error: once per batch, after the accesses
   * and before anything of the batch is trusted, and before sleeping. Does nothing in regions that
   * no peer can take away.
   *
   * <p>Where the batch is a loop, the error may be thrown earlier, and on JDK 17 in such a way that
   * it bypasses the {@code try} of the method with the loop (see docs/failure-model.md): so that
   * method's caller handles the error, too.
   */
  void verify();
}
