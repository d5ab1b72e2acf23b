package dev.ringfetch.index.client;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads of a client: the executor for the application's code, and a pool of daemon threads,
 * shared by all clients, for the client's own steps, which never wait. Code of the application that
 * blocks does not delay these steps. Neither runs on the JVM's timer thread or on its common pool.
 *
 * <p>Safe for use by many threads.
 */
class ClientThreads {
  private static final long LINGER_S = 3;
  private static final AtomicInteger COUNT = new AtomicInteger();

  private static final Executor POOL =
      new ThreadPoolExecutor(
          0,
          Integer.MAX_VALUE,
          LINGER_S,
          TimeUnit.SECONDS,
          new SynchronousQueue<>(),
          task -> {
            final Thread thread = new Thread(task, "ringfetch-index-" + COUNT.getAndIncrement());
            thread.setDaemon(true);
            return thread;
          });

  private final Executor application;

  /** Creates it; the application's code runs on the pool, too, if its executor is null. */
  ClientThreads(Executor application) {
    this.application = application == null ? POOL : application;
  }

  /** The pool for the client's own steps. */
  Executor pool() {
    return POOL;
  }

  /** Runs the application's code on its executor; on the pool where that refuses the task. */
  void run(Runnable task) {
    try {
      application.execute(task);
    } catch (RejectedExecutionException e) { // else a future would never end
      POOL.execute(task);
    }
  }

  /** Runs a step of the client's own on the pool, after a time. */
  void after(long delayNs, Runnable step) {
    CompletableFuture.delayedExecutor(delayNs, TimeUnit.NANOSECONDS, POOL).execute(step);
  }

  /** The time in nanoseconds. */
  long nowNs() {
    return System.nanoTime();
  }
}
