package dev.ringfetch.session.poller;

import dev.ringfetch.session.owner.OwnedBy;
import dev.ringfetch.session.owner.SharedField;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The earliest deadline of a session: as its owner has published it, and as its poller has noted
 * it. The poller looks at the session at the noted time at the latest, so that an owner calls it
 * only for an earlier deadline; it finds a later one when it looks.
 *
 * <p>Each side stores its own value and then loads the other's, both volatile: so an owner that
 * publishes sees the noted value, or the poller sees the published one.
 */
final class EarliestDeadline extends Dated {
  /** Noted by a poller that does not serve the session: nothing is earlier. */
  static final long NOT_SERVED = Long.MIN_VALUE;

  private static final VarHandle CALLED =
      SharedField.of(MethodHandles.lookup(), "called", boolean.class);

  final PollerEntry entry;

  private volatile long publishedNs = Dated.NO_DEADLINE;
  private volatile long notedNs = NOT_SERVED;

  @SuppressWarnings("unused") // through CALLED
  private volatile boolean called; // it is in the list of calls to the poller

  EarliestDeadline nextCalling;
  EarliestDeadline nextOverdue; // the poller's

  EarliestDeadline(PollerEntry entry) {
    this.entry = entry;
  }

  /** Publishes the present deadline. True when the poller has to be called. Allocates nothing. */
  @OwnedBy("session")
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

  /** Notes the published deadline; the poller. */
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

  /** Called when the session is not served any more; the poller. */
  void leave() {
    notedNs = NOT_SERVED;
  }

  /** True while the poller serves the session; the poller. */
  boolean isServed() {
    return notedNs != NOT_SERVED;
  }

  /** True for the thread that has to add this to the list of calls. */
  boolean call() {
    return !(boolean) CALLED.getVolatile(this) && CALLED.compareAndSet(this, false, true);
  }

  /** Called when the poller has taken the call; it reads the published deadline next. */
  void heard() {
    CALLED.setVolatile(this, false);
  }
}
