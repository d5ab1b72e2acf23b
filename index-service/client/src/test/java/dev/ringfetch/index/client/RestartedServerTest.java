package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Status;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients of a server process that is killed in the middle of their writes, and started again on
 * its data: no write fails, and each is carried out once. {@code -Dringfetch.kills=N} kills it N
 * times.
 */
@Tag("slow")
@Timeout(180)
final class RestartedServerTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 1);
  private static final int KILLS = Integer.getInteger("ringfetch.kills", 2);
  private static final Duration DEADLINE = Duration.ofSeconds(60);

  @TempDir Path directory;
  @TempDir Path data;

  private final AtomicBoolean ending = new AtomicBoolean();
  private final AtomicLong increments = new AtomicLong();
  private final AtomicLong others = new AtomicLong();
  private final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();

  private ServerProcess start(int port) throws Exception {
    return ServerProcess.startOnDisk(directory, data, port);
  }

  @Test
  void eachWriteIsCarriedOutOnce() throws Exception {
    System.out.println("seed=" + SEED);
    final Random random = new Random(SEED);
    ServerProcess server = start(0);
    try (IndexClient client =
        IndexClient.builder()
            .target("localhost:" + server.port())
            .shmDirectory(directory)
            .deadline(DEADLINE)
            .build()) {
      final HashIndex<String, Long> hash = client.hash("h", Codec.string(), Codec.int64());
      final OrderedIndex<String, Long> ordered = client.ordered("o", Codec.string(), Codec.int64());
      final List<Thread> threads = new ArrayList<>();
      for (final KeyedIndex<String, Long> index : List.of(hash, ordered)) {
        threads.add(loop(() -> increment(index)));
        threads.add(loop(() -> increment(index)));
        threads.add(loop(() -> putAndRemove(index)));
      }
      threads.add(loop(() -> increment(hash.async())));
      threads.add(loop(() -> removeRange(ordered)));
      for (int i = 0; i < KILLS; i++) {
        final long before = increments.get();
        while (increments.get() < before + 50 && failures.isEmpty()) {
          Thread.sleep(1);
        }
        Thread.sleep(random.nextInt(50));
        server.kill();
        server = start(server.port());
      }
      final long before = increments.get();
      while (increments.get() < before + 50 && failures.isEmpty()) {
        Thread.sleep(1);
      }
      ending.set(true);
      for (final Thread thread : threads) {
        thread.join(TimeUnit.SECONDS.toMillis(90));
        assertFalse(thread.isAlive(), "it still waits");
      }
      assertEquals(List.of(), List.copyOf(failures));
      assertTrue(others.get() > 0);
      assertEquals(
          increments.get(), hash.get("n").orElse(0L) + ordered.get("n").orElse(0L), "increments");
    } finally {
      server.close();
    }
  }

  private Thread loop(Runnable body) {
    final Thread thread =
        new Thread(
            () -> {
              try {
                while (!ending.get() && failures.isEmpty()) {
                  runUnlessAReadFails(body);
                }
              } catch (RuntimeException | Error e) {
                failures.add(e);
              }
            });
    thread.start();
    return thread;
  }

  /** A read is repeated once, so it may fail: then the operation has changed nothing. */
  private static boolean runUnlessAReadFails(Runnable body) {
    try {
      body.run();
      return true;
    } catch (IndexException | CompletionException e) {
      final Throwable failure = e instanceof IndexException ? e : e.getCause();
      if (failure instanceof IndexException read
          && !read.isOutcomeUnknown()
          && (read.code() == Status.Code.UNAVAILABLE || read.code() == Status.Code.UNKNOWN)) {
        return false;
      }
      throw e;
    }
  }

  private void increment(KeyedIndex<String, Long> index) {
    index.update("n", n -> n.orElse(0L) + 1);
    increments.incrementAndGet();
  }

  /** Several at a time, some of which lose. */
  private void increment(AsyncIndex<String, Long> index) {
    final List<CompletableFuture<Long>> updates = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      updates.add(index.update("n", n -> n.orElse(0L) + 1));
    }
    for (final CompletableFuture<Long> update : updates) {
      if (runUnlessAReadFails(update::join)) {
        increments.incrementAndGet();
      }
    }
  }

  /** On a key that no other thread writes: a second put would show by its version. */
  private void putAndRemove(KeyedIndex<String, Long> index) {
    final long value = others.incrementAndGet();
    final long version = index.put("own", value);
    final IndexEntry<String, Long> entry = index.getEntry("own").orElseThrow();
    assertEquals(value, entry.value());
    assertEquals(version, entry.version());
    assertTrue(index.remove("own"), "it was there");
    assertFalse(index.remove("own"), "it was not there");
    assertTrue(index.putIfAbsent("own", value), "it was absent");
    final long applied = index.getEntry("own").orElseThrow().version();
    assertTrue(index.compareAndSet("own", applied, value + 1).applied());
    assertEquals(Optional.of(value + 1), index.get("own"));
  }

  private void removeRange(OrderedIndex<String, Long> index) {
    index.putAll(Map.of("r1", 1L, "r2", 2L, "r3", 3L));
    assertEquals(3, index.deleteRange(Range.prefix("r")));
    assertEquals(0, index.deleteRange(Range.prefix("r")));
  }
}
