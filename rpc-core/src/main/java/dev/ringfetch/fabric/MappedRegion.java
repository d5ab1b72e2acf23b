package dev.ringfetch.fabric;

import java.nio.MappedByteBuffer;

/**
 * The access to mapped memory. It survives the loss of a page, when a peer truncates the file:
 * HotSpot then skips the instruction that faulted and throws an {@link InternalError} on the thread
 * some time later, if it can. The following rules were found by measurements on JDK 17 and 25 for
 * x86-64:
 *
 * <ul>
 *   <li>Memory is loaded as {@code long} and in bulk only. HotSpot cannot decode the one
 *       instruction that C2 generates for an {@code int} load that the caller widens to {@code
 *       long}, and crashes. So an {@code int} is extracted from a {@code long} load. Stores have no
 *       such form.
 *   <li>{@link #verify()} fixes the place where the error is thrown.
 *   <li>{@link #compareAndExchangeLong} and {@link #getAndAddLong} kill the JVM when they meet such
 *       a page in interpreted code. They are outside of this failure model, and no ring uses them.
 * </ul>
 *
 * <p>A region's length is a multiple of 8.
 *
 * <p>May be used from any thread. The mapping lives until this object is garbage: unmapping it
 * earlier would be unsafe for a thread that uses it.
 */
public final class MappedRegion extends DirectRegion {
  /**
   * The field that {@link #verify()} stores its array to, so that the array escapes. Never read, so
   * races on it do not matter. A field of the region, not a static one: threads that poll different
   * sessions would contend for the cache line with every store.
   */
  @SuppressWarnings("unused")
  private Object barrier;

  /** Covers a whole mapping, which begins on a page, so that aligned indexes are aligned words. */
  public MappedRegion(MappedByteBuffer buffer) {
    super(buffer);
  }

  @Override
  public int getInt(int index) {
    return cut((long) LONG.get(buffer, index & ~Integer.BYTES), index);
  }

  @Override
  public int getIntAcquire(int index) {
    return cut((long) LONG.getAcquire(buffer, index & ~Integer.BYTES), index);
  }

  /**
   * Extracts the int at an index from the long that was loaded at that index with bit 2 cleared.
   */
  private static int cut(long word, int index) {
    return (int) (word >>> ((index & Integer.BYTES) * Byte.SIZE));
  }

  /**
   * {@inheritDoc}
   *
   * <p>A pending error is thrown wherever a thread comes back from the VM. Allocating an array of
   * arrays enters the VM even in compiled code, unless the outer length is a positive constant, and
   * costs about 24 ns. The array must escape, or C2 leaves the allocation out.
   */
  @Override
  public void verify() {
    barrier = new int[0][0];
  }

  /**
   * Swaps a word if it is as expected, with volatile order, and returns it as it was. Fatal where
   * the file was truncated: see above.
   */
  public long compareAndExchangeLong(int index, long expected, long desired) {
    return (long) LONG.compareAndExchange(buffer, index, expected, desired);
  }

  /**
   * Adds to a word, with volatile order, and returns it as it was. Fatal where the file was
   * truncated: see above.
   */
  public long getAndAddLong(int index, long delta) {
    return (long) LONG.getAndAdd(buffer, index, delta);
  }
}
