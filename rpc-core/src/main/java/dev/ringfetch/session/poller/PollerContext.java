package dev.ringfetch.session.poller;

import dev.ringfetch.counters.Counters;
import org.agrona.concurrent.NanoClock;

/** The options of a poller. */
public interface PollerContext {
  /** Clock of deadlines and spinning. */
  NanoClock clock();

  /** Where pollers list what they and their sessions count; nobody publishes it unless set. */
  Counters counters();

  /**
   * How long a thread polls at most before it sleeps, in nanoseconds; for 5 us where that was in
   * vain lately. 0 in tests: 2 cores are few.
   */
  long spinNs();

  /**
   * From how many short calls in a millisecond a server's poller runs them itself: so many
   * hand-overs cost as much as the looks of the backup thread meanwhile.
   */
  int inlinePerMs();
}
