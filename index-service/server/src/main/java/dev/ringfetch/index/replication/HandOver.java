package dev.ringfetch.index.replication;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The first part of a node's orderly end: leaders have complete members lead that go on, and the
 * node serves until they do. Then it is announced no more, unless it leads something yet.
 *
 * <p>It waits for no group whose other members end as well, or are gone, and never long.
 */
public final class HandOver {
  /** It takes no longer in all. */
  public static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(2);

  /** It takes no longer without a group that is handed over. */
  static final long STEP_NS = TimeUnit.MILLISECONDS.toNanos(800);

  private final Replicas replicas;
  private final LongSupplier clock;
  private final long beganNs;
  private long steppedNs;
  private long left = Long.MAX_VALUE;

  /**
   * Begins the end, on the thread of {@link Replicas#work}.
   *
   * @param clock in nanoseconds
   */
  public HandOver(Replicas replicas, LongSupplier clock) {
    this.replicas = replicas;
    this.clock = clock;
    beganNs = clock.getAsLong();
    steppedNs = beganNs;
    replicas.beginEnd();
  }

  /** Whether all is handed over that can be, or it has taken too long. By one thread. */
  public boolean isDone() {
    final long nowNs = clock.getAsLong();
    final long leftNow =
        replicas.all().stream().filter(replica -> !replica.hasHandedOver()).count();
    if (leftNow < left) {
      left = leftNow;
      steppedNs = nowNs;
    }
    return leftNow == 0 || nowNs - beganNs > LIMIT_NS || nowNs - steppedNs > STEP_NS;
  }

  /** Ends it, on the thread of {@link Replicas#work}. */
  public void end() {
    replicas.endHandOver();
  }
}
