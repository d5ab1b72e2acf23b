package dev.ringfetch.session.poller;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The earliest deadline of a session: as its owner has published it, and as its poller has noted
 * it. The poller looks at the session no later than it has noted, so that an owner calls it only
 * for what is earlier; what is later it finds when it looks.
 *
 * <p>Each side stores its own and then looks at the other's, both volatile: an owner that publishes
 * sees what was noted, or the poller sees what was published.
 */
final class EarliestDeadline extends Dated {
  /** Noted by a poller that does not serve the session: nothing is earlier. */
  static final long NOT_SERVED = Long.MIN_VALUE;

  private static final VarHandle CALLED;

  static {
    try {
      CALLED =
          MethodHandles.lookup().findVarHandle(EarliestDeadline.class, "called", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  final PollerEntry entry;

  private volatile long publishedNs = Dated.NO_DEADLINE;
  private volatile long notedNs = NOT_SERVED;

  @SuppressWarnings("unused") // through CALLED
  private volatile boolean called; // it is among those that call the poller

  EarliestDeadline nextCalling;
  EarliestDeadline nextOverdue; // the poller's

  EarliestDeadline(PollerEntry entry) {
    this.entry = entry;
  }

  /**
   * Says what it is at present; owner. True when the poller has to be called. Allocates nothing.
   */
  boolean publish(long earliestNs) {
    if (earliestNs != publishedNs) {
      publishedNs = earliestNs;
    }
    return earliestNs < notedNs;
  }

  /** As of the last {@link #publish}. Any thread. */
  long publishedNs() {
    return publishedNs;
  }

  /** Notes what is published at present; the poller. */
  long note() {
    long seenNs = entry.session.earliestDeadlineNs();
    long noted;
    do {
      noted = seenNs;
      notedNs = noted;
      seenNs = entry.session.earliestDeadlineNs();
    } while (seenNs < noted);
    return noted;
  }

  /** The session is served no longer; the poller. */
  void leave() {
    notedNs = NOT_SERVED;
  }

  /** True while the poller serves the session; the poller. */
  boolean isServed() {
    return notedNs != NOT_SERVED;
  }

  /** True for whoever has to put this among those that call. */
  boolean call() {
    return !(boolean) CALLED.getVolatile(this) && CALLED.compareAndSet(this, false, true);
  }

  /** The poller has heard, and looks next at what is published. */
  void heard() {
    CALLED.setVolatile(this, false);
  }
}
