package dev.ringfetch.session.poller;

import dev.ringfetch.counters.Counters;
import org.agrona.concurrent.NanoClock;

/** The options of a poller. */
public interface PollerContext {
  /** Clock of deadlines and spinning. */
  NanoClock clock();

  /** The counters that pollers and their sessions are listed in; not published unless set. */
  Counters counters();

  /**
   * How long a thread polls at most before it sleeps, in nanoseconds; for 5 us where longer polling
   * was in vain lately. 0 in tests: 2 cores are few.
   */
  long spinNs();

  /**
   * Number of short calls in a millisecond from which a server's poller runs them itself: that many
   * hand-overs cost as much as the looks of the backup thread in that time.
   */
  int inlinePerMs();
}
