package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.StatusTexts;
import io.grpc.Status;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * The limit of a client's operations that are under way by calls. Application threads wait for a
 * permit, in order, no longer than the deadline of their operation. A thread of the client that
 * runs a callback never waits: the answers that would release permits may need it. It goes before
 * the threads that wait.
 *
 * <p>An operation keeps its permit until it ends, and gives it back before the application learns
 * of the end. The callback of an operation that has ended may always begin another one, also if a
 * waiting thread has got the permit meanwhile: then one more than the limit is under way for each
 * thread that runs such a callback. Safe for use by many threads.
 */
final class InFlightLimit {
  private static final ThreadLocal<Callbacks> CALLBACKS = ThreadLocal.withInitial(Callbacks::new);

  private final int limit;
  private final Permits permits;

  InFlightLimit(int limit) {
    this.limit = limit;
    permits = new Permits(limit);
  }

  /** The callbacks that a thread runs. */
  private static final class Callbacks {
    private int depth;

    /**
     * The limit that an operation has returned its permit to; null if there is none, or it was
     * used.
     */
    private InFlightLimit released;

    boolean isEmpty() {
      return depth == 0;
    }
  }

  /** Permits in the order of the requests; their number may become negative. */
  private static final class Permits extends Semaphore {
    private static final long serialVersionUID = 1;

    Permits(int count) {
      super(count, true);
    }

    void takeBeyondLimit() {
      reducePermits(1);
    }
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
    final Callbacks callbacks = CALLBACKS.get();
    if (!(callbacks.isEmpty() ? takeInOrder(run) : takeNow(callbacks))) {
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

  /** Takes a permit for a callback. */
  private boolean takeNow(Callbacks callbacks) {
    final boolean isSuccessor = callbacks.released == this;
    if (isSuccessor) {
      callbacks.released = null;
    }
    if (permits.tryAcquire()) {
      return true;
    }
    if (isSuccessor) {
      permits.takeBeyondLimit();
    }
    return isSuccessor;
  }

  /** Takes a permit after the threads that wait already. */
  private boolean takeInOrder(OperationRun run) {
    if (!permits.hasQueuedThreads() && permits.tryAcquire()) {
      return true;
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
    final Callbacks callbacks = CALLBACKS.get();
    if (!callbacks.isEmpty()) {
      callbacks.released = this;
    }
  }

  /** Runs a callback. */
  static void callBack(Runnable callback) {
    final Callbacks callbacks = CALLBACKS.get();
    callbacks.depth++;
    try {
      callback.run();
    } finally {
      if (--callbacks.depth == 0) {
        callbacks.released = null;
      }
    }
  }
}
