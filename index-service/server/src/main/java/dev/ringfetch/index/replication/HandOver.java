package dev.ringfetch.index.replication;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The first part of a node's orderly end: leaders hand over to complete members of other nodes, and
 * the node serves until those lead. Then its announcement ends, unless it still leads a group.
 *
 * <p>It does not wait for a group whose other members are ending, too, or are gone, and it never
 * waits long.
 */
public final class HandOver {
  /** Limit of the total time. */
  public static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(2);

  /** Limit of the time without another group handed over. */
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
