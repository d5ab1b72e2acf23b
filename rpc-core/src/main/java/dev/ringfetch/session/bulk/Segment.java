package dev.ringfetch.session.bulk;

import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A run of registered memory, with a reference count: each user {@linkplain #retain retains} it,
 * and it goes back to its {@link BulkPool} with the last {@link #release}.
 */
public final class Segment {
  private final BulkPool pool;
  private final BulkRegion region;
  private final int offset;
  private final int length;
  private final AtomicInteger references = new AtomicInteger(1);

  Segment(BulkPool pool, BulkRegion region, int offset, int length) {
    this.pool = pool;
    this.region = region;
    this.offset = offset;
    this.length = length;
  }

  /** Length in bytes. */
  public int length() {
    return length;
  }

  /** The memory, from the segment's first byte to its last. */
  public ByteBuffer buffer() {
    return region.memory().buffer(offset, length);
  }

  /** Copies bytes into the segment. */
  public void put(int index, byte[] source, int sourceOffset, int count) {
    Objects.checkFromIndexSize(index, count, length);
    region.memory().region().putBytes(offset + index, source, sourceOffset, count);
  }

  /** Adds a reference. IllegalStateException when there is none any more. */
  public Segment retain() {
    if (references.getAndUpdate(count -> count > 0 ? count + 1 : count) <= 0) {
      throw new IllegalStateException("given back: length=" + length);
    }
    return this;
  }

  /** Removes a reference. IllegalStateException when there is none any more. */
  public void release() {
    final int before = references.getAndUpdate(count -> count > 0 ? count - 1 : count);
    if (before <= 0) {
      throw new IllegalStateException("given back: length=" + length);
    }
    if (before == 1) {
      pool.free(this);
    }
  }

  /**
   * Passes the caller's reference to an application.
   *
   * @param holder what the application has it in: when that is garbage, the segment is lost.
   */
  public Lease lease(Object holder) {
    return pool.leases().add(this, holder);
  }

  /** Creates the list of a unit's memory from this segment's pool. */
  public Segments lend(Object unit) {
    return pool.lend(unit);
  }

  BulkPool pool() {
    return pool;
  }

  /** Number of its region, as the peer counts them. */
  public int regionNumber() {
    return region.number();
  }

  BulkRegion region() {
    return region;
  }

  public int offset() {
    return offset;
  }
}
