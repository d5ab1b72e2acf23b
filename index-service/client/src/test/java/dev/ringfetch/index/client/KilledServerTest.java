package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Clients of a server process that is killed in the middle of calls, and started again. */
final class KilledServerTest {
  /** A busy machine may take long to start the successor. */
  private static final Duration DEADLINE = Duration.ofSeconds(60);

  @TempDir Path directory;

  @Test
  void callsEndAndTheNextOnesFindTheSuccessor() throws Exception {
    final int port;
    final AtomicBoolean ending = new AtomicBoolean();
    final AtomicLong done = new AtomicLong();
    final ConcurrentLinkedQueue<RuntimeException> failures = new ConcurrentLinkedQueue<>();
    try (ServerProcess first = ServerProcess.start(directory, 0)) {
      port = first.port();
      try (IndexClient client =
          IndexClient.builder()
              .target("localhost:" + port)
              .shmDirectory(directory)
              .deadline(DEADLINE)
              .build()) {
        final HashIndex<Long, Long> index = client.hash("a", Codec.int64(), Codec.int64());
        index.put(0L, 0L);
        final List<Thread> threads = new ArrayList<>();
        final List<Runnable> loops =
            List.of(
                () -> index.put(1L, done.incrementAndGet()),
                () -> index.get(0L),
                () -> index.access(Access.DIRECT).get(0L),
                () -> index.update(2L, n -> n.orElse(0L) + 1));
        for (final Runnable loop : loops) {
          final Thread thread =
              new Thread(
                  () -> {
                    while (!ending.get()) {
                      try {
                        loop.run();
                      } catch (RuntimeException e) {
                        failures.add(e);
                      }
                    }
                  });
          threads.add(thread);
          thread.start();
        }
        while (done.get() < 100) {
          Thread.onSpinWait();
        }
        final List<CompletableFuture<?>> futures = new ArrayList<>();
        for (long i = 0; i < 50; i++) {
          futures.add(index.async().put(100 + i, i));
          futures.add(index.async().get(100 + i));
        }
        first.kill();
        // A read that begins now waits for the successor.
        final CompletableFuture<Optional<Long>> waiting = index.async().get(0L);
        try (ServerProcess second = ServerProcess.start(directory, port)) {
          assertEquals(Optional.empty(), waiting.get(90, TimeUnit.SECONDS)); // it kept nothing
          for (final CompletableFuture<?> future : futures) {
            future.handle((result, failure) -> failure).get(90, TimeUnit.SECONDS);
          }
          ending.set(true);
          for (final Thread thread : threads) {
            thread.join(TimeUnit.SECONDS.toMillis(90));
            assertTrue(!thread.isAlive(), "it still waits");
          }
          assertTrue(!failures.isEmpty(), "the kill was in the middle of calls");
          failures.forEach(failure -> assertInstanceOf(IndexException.class, failure));
          index.put(0L, 5L);
          assertEquals(Optional.of(5L), index.get(0L));
          final HashIndex<Long, Long> direct = index.access(Access.DIRECT);
          final long limitNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
          while (!direct.get(0L).equals(Optional.of(5L))) { // up to a second of the killed one
            assertTrue(System.nanoTime() - limitNs < 0, "in time");
          }
          assertEquals(port, second.port());
        }
      }
    }
  }
}
