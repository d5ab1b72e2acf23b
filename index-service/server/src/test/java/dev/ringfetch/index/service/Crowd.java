package dev.ringfetch.index.service;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Threads that start their work at the same moment. */
final class Crowd {
  private static final int DEADLINE_SECONDS = 120;

  private Crowd() {}

  /** Runs each task on a thread of its own; returns their results, or throws what one threw. */
  static <T> List<T> run(Collection<Callable<T>> tasks) throws Exception {
    final CyclicBarrier start = new CyclicBarrier(tasks.size());
    final ExecutorService threads = Executors.newFixedThreadPool(tasks.size());
    try {
      final List<Future<T>> running = new ArrayList<>();
      for (final Callable<T> task : tasks) {
        running.add(
            threads.submit(
                () -> {
                  start.await(DEADLINE_SECONDS, TimeUnit.SECONDS);
                  return task.call();
                }));
      }
      final List<T> results = new ArrayList<>();
      for (final Future<T> one : running) {
        results.add(one.get(DEADLINE_SECONDS, TimeUnit.SECONDS));
      }
      return results;
    } finally {
      threads.shutdownNow();
    }
  }
}
