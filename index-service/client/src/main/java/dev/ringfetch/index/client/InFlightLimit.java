package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.StatusTexts;
import io.grpc.Status;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * The limit of a client's operations that are under way by calls. Application threads wait for a
 * permit, in order, no longer than the deadline of their operation. A thread of the client that
 * runs a callback never waits: the answers that would release permits may need it.
 *
 * <p>An operation keeps its permit until it ends, and gives it back before the application learns
 * of the end. Safe for use by many threads.
 */
final class InFlightLimit {
  /** Whether the thread runs a callback of a client. */
  private static final ThreadLocal<Boolean> IN_CALLBACK = ThreadLocal.withInitial(() -> false);

  private final int limit;
  private final Semaphore permits;

  InFlightLimit(int limit) {
    this.limit = limit;
    permits = new Semaphore(limit, true);
  }

  /**
   * Takes a permit for a run, unless that has one.
   *
   * @throws OverloadedException if there is none in time
   */
  void take(OperationRun run) {
    if (run.hasPermit()) {
      return;
    }
    if (!takeNow() && !await(run)) {
      throw run.failure(
          Status.RESOURCE_EXHAUSTED.withDescription(
              StatusTexts.OVERLOADED
                  + "as many operations are under way as may be: maxInFlight="
                  + limit
                  + "; it was not sent"),
          false);
    }
    run.permitted(this);
  }

  /** Takes a permit that nobody waits for. */
  private boolean takeNow() {
    return !permits.hasQueuedThreads() && permits.tryAcquire();
  }

  private boolean await(OperationRun run) {
    if (IN_CALLBACK.get()) {
      return false;
    }
    try {
      return permits.tryAcquire(Math.max(0, run.leftNs()), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw run.failure(
          Status.CANCELLED.withDescription("the thread was interrupted; it was not sent"), false);
    }
  }

  void release() {
    permits.release();
  }

  /** Runs a callback. */
  static void callBack(Runnable callback) {
    final boolean before = IN_CALLBACK.get();
    IN_CALLBACK.set(true);
    try {
      callback.run();
    } finally {
      IN_CALLBACK.set(before);
    }
  }
}
