package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How long eight threads take to count to 500 at one key, by updates and by increments in turn. */
@Tag("timing")
final class CounterRatesTest {
  private static final int THREADS = 8;
  private static final int COUNT = 500;
  private static final int ROUNDS = 5;

  @TempDir Path data;
  @TempDir Path rings;

  /** One operation that counts. */
  private interface Counting {
    void count(HashIndex<String, Long> index);
  }

  @ParameterizedTest
  @ValueSource(strings = {"memory", "disk"})
  @Timeout(300)
  void incrementsAreFasterThanUpdates(String durability) throws Exception {
    final String[] options = {"--data", data.toString(), "--durability", durability};
    try (ServerProcess server = ServerProcess.start(rings, 0, options);
        IndexClient client =
            IndexClient.builder()
                .target("localhost:" + server.port())
                .deadline(Duration.ofMinutes(1))
                .build()) {
      final HashIndex<String, Long> index = client.hash("counters", Codec.string(), Codec.int64());
      final double[] updates = new double[ROUNDS];
      final double[] increments = new double[ROUNDS];
      for (int round = -1; round < ROUNDS; round++) { // the first one warms up
        final double updated =
            millis(index, view -> view.update("key", value -> value.orElse(0L) + 1));
        final double incremented = millis(index, view -> view.increment("key", 1));
        if (round >= 0) {
          updates[round] = updated;
          increments[round] = incremented;
        }
      }
      assertEquals(2L * COUNT * (ROUNDS + 1), index.get("key").orElseThrow());
      final double before = median(updates);
      final double after = median(increments);
      System.out.printf(
          "durability=%s threads=%d increments of one key=%d: update %.0f ms (%.0f to %.0f),"
              + " increment %.1f ms (%.1f to %.1f), ratio %.1f%n",
          durability,
          THREADS,
          COUNT,
          before,
          updates[0],
          updates[ROUNDS - 1],
          after,
          increments[0],
          increments[ROUNDS - 1],
          before / after);
      assertTrue(before > 2 * after, before + " ms, " + after + " ms");
    }
  }

  /** Sorts, and returns the one in the middle. */
  private static double median(double[] values) {
    Arrays.sort(values);
    return values[values.length / 2];
  }

  private static double millis(HashIndex<String, Long> index, Counting counting) throws Exception {
    final AtomicInteger left = new AtomicInteger(COUNT);
    final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try {
      final Callable<Void> counter =
          () -> {
            while (left.getAndDecrement() > 0) {
              counting.count(index);
            }
            return null;
          };
      final long beginNs = System.nanoTime();
      for (final Future<Void> ended :
          threads.invokeAll(IntStream.range(0, THREADS).mapToObj(i -> counter).toList())) {
        ended.get();
      }
      return (System.nanoTime() - beginNs) / 1e6;
    } finally {
      threads.shutdownNow();
    }
  }
}
