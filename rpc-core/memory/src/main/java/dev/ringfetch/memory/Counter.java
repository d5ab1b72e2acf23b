package dev.ringfetch.memory;

import dev.ringfetch.rpc.Experimental;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A sum to which threads of this process and clients add. Clients add by calls: a fabric's atomic
 * is not atomic with the processor's, and on shared memory one that meets memory which was taken
 * away ends the JVM.
 *
 * <p>Safe for use by many threads.
 */
@Experimental
public final class Counter implements Owned {
  private final Regions regions;
  private final String name;
  private final AtomicLong sum = new AtomicLong();

  Counter(Regions regions, String name) {
    this.regions = regions;
    this.name = name;
  }

  /** Adds one, and returns the sum. */
  public long increment() {
    return sum.incrementAndGet();
  }

  /** Adds a number, and returns the sum. */
  public long add(long delta) {
    return sum.addAndGet(delta);
  }

  /** The sum. */
  public long get() {
    return sum.get();
  }

  /** Takes the name back. Idempotent. */
  @Override
  public void close() {
    regions.forget(name, this);
  }
}
