package dev.ringfetch.session.bulk;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;

/**
 * A {@link Segment} that the application has in hand, until it says that it has done with it. If
 * what it has it in is garbage before that, nobody ever will say so, and {@link Leases} does.
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

  /** Where the application has asked for it, or null when nobody wanted to know. */
  Throwable origin() {
    return origin;
  }

  /** The application has done with it. Once, while its holder is still reachable. */
  public void close() {
    leases.closed(this);
    segment.release();
  }
}
