package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.v1.OpenClientRequest;
import dev.ringfetch.index.v1.OpenClientResponse;
import io.grpc.stub.StreamObserver;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** On which threads the application's code runs. */
@Timeout(60)
final class ClientThreadsTest {
  private static final String NAME = "of the application";

  @TempDir Path directory;

  /** The first write waits for a number, and the second one for the first. */
  @Test
  void aWriteThatWaitsInVainEndsOnTheExecutorOfTheClient() throws Exception {
    final CountDownLatch asked = new CountDownLatch(1);
    final TreeIndex silent =
        new TreeIndex() {
          @Override
          public void openClient(
              OpenClientRequest request, StreamObserver<OpenClientResponse> responses) {
            asked.countDown();
          }
        };
    final ExecutorService executor =
        Executors.newSingleThreadExecutor(run -> new Thread(run, NAME));
    try (TestServer server = TestServer.startWith(directory, silent, new TreeAdmin());
        IndexClient client = server.builder().executor(executor).build()) {
      final OrderedIndex<String, Long> tree = client.ordered("tree", Codec.string(), Codec.int64());
      final var first = tree.async().put("a", 1L);
      asked.await();
      final CompletableFuture<String> thread =
          tree.deadline(Duration.ofMillis(100))
              .async()
              .put("a", 2L)
              .handle(
                  (version, failure) -> {
                    assertTrue(failure instanceof DeadlineException, () -> "" + failure);
                    return Thread.currentThread().getName();
                  });
      assertEquals(NAME, thread.get());
      first.cancel(true);
    } finally {
      executor.shutdownNow();
    }
  }

  @Test
  void pausesGrowToTheirLimitAndBeginAnew() {
    final Backoff backoff = new Backoff(8, 100);
    for (final long length : new long[] {8, 16, 32, 64, 100, 100}) {
      final long drawn = backoff.nextNs();
      assertTrue(drawn >= length / 2 && drawn <= length, length + ": " + drawn);
    }
    backoff.reset();
    assertTrue(backoff.nextNs() <= 8);
  }
}
