package dev.ringfetch.session.bulk;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.counters.Counter;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.HashSet;
import java.util.Set;

/**
 * The open leases of a {@link BulkPool}. A segment that the application has forgotten to give back
 * is counted and logged, with the next allocation after the garbage collector has found it. It
 * stays lost all the same: the application may still write through a view of it, which the
 * collector does not see.
 *
 * <p>When the session has ended, no segment counts as lost any more.
 *
 * <p>Thread-safe.
 */
final class Leases {
  /** System property: with {@code true} each lease records the stack trace of its allocation. */
  static final String PROPERTY = "ringfetch.leaks";

  private static final System.Logger LOGGER = System.getLogger(BulkPool.class.getName());

  private final BulkOwner owner;
  private final boolean traced = Boolean.getBoolean(PROPERTY);
  private final ReferenceQueue<Object> lost = new ReferenceQueue<>();

  @GuardedBy("this")
  private final Set<Lease> open = new HashSet<>();

  @GuardedBy("this")
  private boolean ended;

  @GuardedBy("this")
  private boolean logged;

  Leases(BulkOwner owner) {
    this.owner = owner;
  }

  /** Creates the lease of a segment. */
  Lease add(Segment segment, Object holder) {
    final Throwable origin = traced ? new Throwable("allocated here") : null;
    final Lease lease = new Lease(this, segment, holder, lost, origin);
    synchronized (this) {
      open.add(lease);
      count();
    }
    return lease;
  }

  synchronized void closed(Lease lease) {
    open.remove(lease);
    count();
  }

  @GuardedBy("this")
  private void count() {
    owner.tally().set(Counter.SESSION_BUFFERS_LENT, ended ? 0 : open.size());
  }

  /** Counts and logs newly lost segments. Costs a volatile load when there are none. */
  void report() {
    Reference<?> reference;
    while ((reference = lost.poll()) != null) {
      final Lease lease = (Lease) reference;
      if (isLeak(lease)) {
        log(lease);
      }
    }
  }

  private synchronized boolean isLeak(Lease lease) {
    if (!open.contains(lease) || ended) {
      return false;
    }
    owner.tally().add(Counter.SESSION_BUFFERS_LEAKED, 1);
    final boolean first = !logged;
    logged = true;
    return first || traced;
  }

  private void log(Lease lease) {
    final String message =
        "a RegisteredBuffer was dropped without being closed: length="
            + lease.segment().length()
            + ", lost to the "
            + owner.label()
            + " until that ends";
    LOGGER.log(
        System.Logger.Level.WARNING,
        lease.origin() != null
            ? message
            : message
                + "; further ones are only counted; -D"
                + PROPERTY
                + "=true tells where each was allocated",
        lease.origin());
  }

  /** Called when the session ends: segments that were not given back do not count as lost. */
  synchronized void end() {
    ended = true;
    count();
  }
}
