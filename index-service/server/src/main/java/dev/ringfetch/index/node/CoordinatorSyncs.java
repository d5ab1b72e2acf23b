package dev.ringfetch.index.node;

import dev.ringfetch.index.call.Outcomes;
import dev.ringfetch.index.coordinator.Coordinator;
import dev.ringfetch.index.host.ServedIndex;
import io.grpc.Status;
import io.grpc.StatusException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/**
 * The shared catch-up requests of a node to the coordinator. Calls that come while a request is
 * under way share the next one: what was changed before they came may have escaped the one under
 * way.
 *
 * <p>Calls come on any threads; the node's thread sends the requests. The calls go on on the
 * threads of an executor, as they are not the node's work, and are many at times.
 */
public final class CoordinatorSyncs implements CatchUp {
  /** A call waits so long: clients that send again choose another node meanwhile. */
  static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(5);

  /** The most calls that wait, as many as writes of a partition: further ones are refused. */
  static final int MAX_WAITING = ServedIndex.QUEUE_CAPACITY;

  private static final Logger LOGGER = System.getLogger(CoordinatorSyncs.class.getName());

  /** A call that waits. */
  private record Waiting(Synced told, long endNs) {}

  private final Coordinator coordinator;
  private final Runnable wake;
  private final LongSupplier clock;
  private final Executor calls;

  /** Calls that wait for their request, or after it for the executor. */
  private final AtomicInteger count = new AtomicInteger();

  /** Calls that wait for the next request. */
  private final Queue<Waiting> asked = new ConcurrentLinkedQueue<>();

  private volatile boolean closed;

  // Of the node's thread.

  /** Calls that wait for the request under way. */
  private final Queue<Waiting> waiting = new ArrayDeque<>();

  private boolean isLooking;

  /**
   * Creates it.
   *
   * @param wake wakes the node's thread
   * @param clock in nanoseconds
   * @param calls carries out what the calls do after the catch-up
   */
  public CoordinatorSyncs(
      Coordinator coordinator, Runnable wake, LongSupplier clock, Executor calls) {
    this.coordinator = coordinator;
    this.wake = wake;
    this.clock = clock;
    this.calls = calls;
  }

  @Override
  public void sync(Synced told) {
    if (count.incrementAndGet() > MAX_WAITING) {
      count.decrementAndGet();
      told.onEnd(
          Outcomes.overloaded("too many calls wait for the coordinator: limit=" + MAX_WAITING)
              .asException());
      return;
    }
    asked.add(new Waiting(told, clock.getAsLong() + LIMIT_NS));
    if (closed) { // perhaps since the last look at those that wait
      tellAll(asked, ended());
    } else {
      wake.run();
    }
  }

  /** Sends the next request if one is due, and refuses calls that have waited too long. */
  public void work() {
    if (!isLooking && !asked.isEmpty()) {
      for (Waiting next = asked.poll(); next != null; next = asked.poll()) {
        waiting.add(next);
      }
      isLooking = true;
      try {
        coordinator.sync((result, state) -> onAnswer(result));
      } catch (RuntimeException e) { // no answer comes
        onAnswer(Coordinator.Result.UNKNOWN);
        throw e;
      }
    }
    final long nowNs = clock.getAsLong();
    refuseLate(waiting, nowNs);
    refuseLate(asked, nowNs);
  }

  /** Refuses the calls whose time is up. They wait in the order in which they came. */
  private void refuseLate(Queue<Waiting> queue, long nowNs) {
    while (!queue.isEmpty() && nowNs - queue.peek().endNs >= 0) {
      tell(queue.remove(), unanswered());
    }
  }

  private void onAnswer(Coordinator.Result result) {
    isLooking = false;
    tellAll(waiting, result == Coordinator.Result.DONE ? null : unanswered());
  }

  private void tellAll(Queue<Waiting> queue, Status failure) {
    for (Waiting next = queue.poll(); next != null; next = queue.poll()) {
      tell(next, failure);
    }
  }

  private void tell(Waiting call, Status failure) {
    final StatusException told = failure == null ? null : failure.asException();
    try {
      calls.execute(() -> goOn(call, told));
    } catch (RejectedExecutionException | OutOfMemoryError e) { // it ends, or has no thread
      goOn(call, told);
    }
  }

  private void goOn(Waiting call, StatusException failure) {
    try {
      call.told.onEnd(failure);
    } catch (RuntimeException | Error e) { // other calls wait behind this one
      LOGGER.log(Level.ERROR, "a call has failed that waited for the coordinator", e);
    } finally {
      count.decrementAndGet();
    }
  }

  private static Status unanswered() {
    return Status.UNAVAILABLE.withDescription(
        "the coordinator does not answer, so it is unknown which indexes there are; send again");
  }

  private static Status ended() {
    return Status.UNAVAILABLE.withDescription("the node ends");
  }

  /** Refuses all calls that wait, and later ones. On the node's thread, at its end. */
  public void close() {
    closed = true;
    tellAll(waiting, ended());
    tellAll(asked, ended());
  }
}
