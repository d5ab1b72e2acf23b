package dev.ringfetch.session.bulk;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import org.jspecify.annotations.Nullable;

/**
 * The application's use of a {@link Segment}, until it closes the lease. If the lease's holder is
 * garbage before that, the segment is lost, and {@link Leases} reports it.
 */
public final class Lease extends PhantomReference<Object> {
  private final Leases leases;
  private final Segment segment;
  private final Throwable origin;

  Lease(
      Leases leases,
      Segment segment,
      Object holder,
      ReferenceQueue<Object> lost,
      Throwable origin) {
    super(holder, lost);
    this.leases = leases;
    this.segment = segment;
    this.origin = origin;
  }

  /** The memory. */
  public Segment segment() {
    return segment;
  }

  /** The stack trace of the allocation, or null when it is not recorded. */
  @Nullable Throwable origin() {
    return origin;
  }

  /** Ends the lease. Called once, while its holder is still reachable. */
  public void close() {
    leases.closed(this);
    segment.release();
  }
}
