package dev.ringfetch.index.service;

import dev.ringfetch.index.replication.Replicas;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;

/**
 * The thread of a node: repeats the node's step, carries out other threads' tasks before each, and
 * sleeps while nothing is due. A step that fails is logged, and the thread goes on: without it the
 * node would be alive and do nothing.
 *
 * <p>Safe for use by many threads.
 */
final class NodeThread {
  /** How long the thread waits for looks at gates, and sleeps after a failure. */
  static final long TICK_NS = TimeUnit.MILLISECONDS.toNanos(5);

  private static final Logger LOGGER = System.getLogger(NodeThread.class.getName());

  /** A look at a gate takes some microseconds where a card is fast; else others may run. */
  private static final int LOOK_SPINS = 100;

  private static final int LOOK_YIELDS = 100;
  private static final long LOOK_PARK_NS = TimeUnit.MICROSECONDS.toNanos(20);
  private static final long CLOSE_MILLIS = 5_000;

  private final IntSupplier step;
  private final Runnable atEnd;
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final Thread thread = new Thread(this::run, "index-cluster");
  private final CompletableFuture<Void> ended = new CompletableFuture<>();
  private final IdleStrategy looking =
      new BackoffIdleStrategy(LOOK_SPINS, LOOK_YIELDS, LOOK_PARK_NS, LOOK_PARK_NS);
  private Replicas replicas; // from the start on
  private volatile boolean closed;
  private volatile boolean woken;

  /**
   * Creates the thread.
   *
   * @param step returns the number of things that were done: 0 to sleep
   * @param atEnd is run once, after the last step
   */
  NodeThread(IntSupplier step, Runnable atEnd) {
    this.step = step;
    this.atEnd = atEnd;
    thread.setDaemon(true);
  }

  /** Starts the thread. Its replicas say how long it may sleep. */
  void start(Replicas ofNode) {
    replicas = ofNode;
    thread.start();
  }

  /** Whether the thread does steps. */
  boolean isRunning() {
    return !closed && thread.isAlive();
  }

  /** Wakes the thread. */
  void wake() {
    woken = true; // before: a wait for a look may take the permit
    LockSupport.unpark(thread);
  }

  /** Gives the thread a task. */
  void execute(Runnable task) {
    tasks.add(task);
    wake();
  }

  /**
   * Gives the thread a task.
   *
   * @return is completed when the task has ended; with what the task threw, which is logged
   */
  CompletableFuture<Void> submit(Runnable task) {
    final CompletableFuture<Void> done = new CompletableFuture<>();
    execute(
        () -> {
          try {
            task.run();
            done.complete(null);
          } catch (RuntimeException | Error e) {
            done.completeExceptionally(e);
            throw e;
          }
        });
    return done;
  }

  /** A future that is completed with this one, and when the thread has ended. */
  CompletableFuture<Object> orEnd(CompletableFuture<?> future) {
    return CompletableFuture.anyOf(future, ended);
  }

  /** Waits for a future; false if it fails, is late, or the thread has ended. */
  boolean await(CompletableFuture<?> future, long limitNs) throws InterruptedException {
    try {
      orEnd(future).get(limitNs, TimeUnit.NANOSECONDS);
      return future.isDone();
    } catch (TimeoutException | ExecutionException e) { // the thread logs what it throws
      return false;
    }
  }

  private void run() {
    try {
      while (!closed) {
        cycle();
      }
    } finally {
      end();
    }
  }

  private void end() {
    atEnd.run();
    ended.complete(null);
  }

  private void cycle() {
    try {
      woken = false;
      for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
        task.run();
      }
      if (step.getAsInt() == 0) {
        rest();
      }
    } catch (Throwable e) {
      LOGGER.log(Level.ERROR, "a step of the cluster's node has failed", e);
      LockSupport.parkNanos(this, TICK_NS);
    }
  }

  /** Sleeps until something is due; while looks at gates are under way, waits for them instead. */
  private void rest() {
    final long beginNs = System.nanoTime();
    if (!replicas.look()) {
      LockSupport.parkNanos(this, replicas.rest() - beginNs);
      return;
    }
    looking.reset();
    do {
      looking.idle();
    } while (!woken && replicas.look() && System.nanoTime() - beginNs < TICK_NS);
  }

  /** Ends the thread after its step, and waits for that; returns false if it was ended before. */
  boolean close() {
    if (closed) {
      return false;
    }
    closed = true;
    wake();
    try {
      thread.join(CLOSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (thread.getState() == Thread.State.NEW) { // it never runs
      end();
    }
    return true;
  }
}
