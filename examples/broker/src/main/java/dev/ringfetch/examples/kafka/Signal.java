package dev.ringfetch.examples.kafka;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.concurrent.TimeUnit;

/**
 * The signal that a consumer's thread waits for: that a log may have records, the group has
 * changed, or the consumer is woken up. The thread takes the count before it looks, so that no
 * event between its look and its wait is missed.
 */
final class Signal {
  @GuardedBy("this")
  private long events;

  /** The number of events so far. */
  synchronized long events() {
    return events;
  }

  /** Counts an event. */
  synchronized void raise() {
    events++;
    notifyAll();
  }

  /** Waits until there are more events than these, for so long at most. */
  synchronized void await(long seen, long nanos) throws InterruptedException {
    final long endNs = System.nanoTime() + nanos;
    long leftNs = nanos;
    while (events == seen && leftNs > 0) {
      TimeUnit.NANOSECONDS.timedWait(this, leftNs);
      leftNs = endNs - System.nanoTime();
    }
  }
}
