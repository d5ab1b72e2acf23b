package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.client.UnreliableWrites.Fate;
import dev.ringfetch.index.v1.DropIndexRequest;
import dev.ringfetch.index.v1.DropIndexResponse;
import dev.ringfetch.index.v1.OpenClientRequest;
import dev.ringfetch.index.v1.OpenClientResponse;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How often writes are sent, and what their failures say about all attempts. */
@Timeout(120)
final class AttemptsTest {
  private static final Status OVERLOADED =
      Status.RESOURCE_EXHAUSTED.withDescription("overloaded: on purpose");

  @TempDir Path directory;

  private static IndexException failure(boolean waits, CompletableFuture<?> future) {
    final Throwable failure =
        assertThrows(ExecutionException.class, () -> future.get(60, TimeUnit.SECONDS)).getCause();
    return assertInstanceOf(IndexException.class, failure, () -> "waits=" + waits);
  }

  private static HashIndex<String, String> view(IndexClient client) {
    return client.hash("a", Codec.string(), Codec.string());
  }

  /** The second attempt reaches a leader that carries it out and ends before it answers. */
  @Test
  void aWriteWithoutANumberIsCarriedOutOnce() throws Exception {
    final AtomicInteger drops = new AtomicInteger();
    final TreeAdmin admin =
        new TreeAdmin() {
          @Override
          public void dropIndex(
              DropIndexRequest request, StreamObserver<DropIndexResponse> responses) {
            if (drops.incrementAndGet() == 1) {
              responses.onError(OVERLOADED.asException());
            } else {
              responses.onError(Status.UNAVAILABLE.withDescription("killed").asException());
            }
          }
        };
    try (TestServer one = TestServer.startWith(directory, new TreeIndex(), admin);
        TestServer other = TestServer.startWith(directory, new TreeIndex(), admin);
        IndexClient client =
            one.builder()
                .target(one.target() + "," + other.target())
                .deadline(Duration.ofSeconds(2))
                .build()) {
      final UnavailableException e =
          assertThrows(UnavailableException.class, () -> client.drop("a"));
      assertTrue(e.isOutcomeUnknown(), e::getMessage);
      assertFalse(e.getMessage().contains("it was not sent"), e::getMessage);
      assertEquals(2, drops.get());
    }
  }

  /** It is sent to a node that is killed; after that there is no connection to any. */
  @Test
  void aWriteThatWasSentIsNotCalledUnsent() throws Exception {
    for (final boolean waits : new boolean[] {true, false}) {
      final AtomicInteger puts = new AtomicInteger();
      final CountDownLatch carriedOut = new CountDownLatch(1);
      final CountDownLatch dies = new CountDownLatch(1);
      final TreeIndex index =
          new TreeIndex() {
            @Override
            public void openClient(
                OpenClientRequest request, StreamObserver<OpenClientResponse> responses) {
              answer(
                  responses,
                  OpenClientResponse.newBuilder().setClient(7).setLeaseMs(60_000).build());
            }

            @Override
            public void put(PutRequest request, StreamObserver<PutResponse> responses) {
              if (puts.incrementAndGet() == 1) {
                responses.onError(OVERLOADED.asException());
                return;
              }
              carriedOut.countDown(); // and it is not answered
            }
          };
      final TestServer dead = TestServer.startWith(directory);
      final String deadTarget = dead.target();
      dead.close();
      final TestServer server = TestServer.startWith(directory, index, new TreeAdmin());
      final Thread killer =
          new Thread(
              () -> {
                try {
                  carriedOut.await();
                  server.close();
                  dies.countDown();
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
              });
      killer.start();
      try (IndexClient client =
          server
              .builder()
              .target(server.target() + "," + deadTarget)
              .deadline(Duration.ofSeconds(4))
              .build()) {
        final IndexException e =
            waits
                ? assertThrows(IndexException.class, () -> view(client).put("k", "v"))
                : failure(waits, view(client).async().put("k", "v"));
        assertTrue(dies.await(60, TimeUnit.SECONDS));
        assertTrue(e.isOutcomeUnknown(), e::getMessage);
        assertFalse(e.getMessage().contains("it was not sent"), e::getMessage);
        assertFalse(e instanceof OverloadedException, e::getMessage);
      } finally {
        carriedOut.countDown();
        killer.join();
      }
    }
  }

  /** "Overloaded" would say that nothing was done. */
  @Test
  void aWriteThatMayBeDoneIsNotOverloaded() throws Exception {
    final UnreliableWrites writes = new UnreliableWrites();
    try (TestServer server = TestServer.start(directory)) {
      final ManagedChannel channel = server.channel(writes);
      try {
        for (final boolean numbered : new boolean[] {true, false}) {
          try (IndexClient client = server.builder(channel).exactlyOnce(numbered).build()) {
            final HashIndex<String, String> index = view(client);
            writes.fates = () -> Fate.NONE;
            index.remove("a");
            for (final boolean waits : new boolean[] {true, false}) {
              final Queue<Fate> fates =
                  new ArrayDeque<>(List.of(Fate.OVERLOADED, Fate.ANSWER_LATE));
              writes.fates = fates::remove;
              final IndexException e =
                  waits
                      ? assertThrows(IndexException.class, () -> index.put("a", "1"))
                      : failure(waits, index.async().put("a", "1"));
              assertInstanceOf(DeadlineException.class, e);
              assertTrue(e.isOutcomeUnknown(), e::getMessage);
              assertFalse(e.getMessage().contains("not sent"), e::getMessage);
              assertEquals(Optional.of("1"), index.get("a"));
            }
          }
        }
      } finally {
        channel.shutdownNow();
      }
    }
  }

  /** Only its own words about the outcome: they are those of all attempts. */
  @Test
  void aNoteThatNothingWasSentIsOfAllAttempts() {
    final OperationRun run =
        new OperationRun(new Subject(Operation.PUT, "a", null), 1, 0, ClientMetrics.NONE);
    final Status lost = Status.UNKNOWN.withCause(new java.io.IOException("closed"));
    final FailedAttempts failed = new FailedAttempts(run, true);
    run.mayBeSent(false);
    failed.add(lost);
    assertTrue(failed.failure().getMessage().contains("it was not sent"));
    assertFalse(failed.failure().isOutcomeUnknown());
    run.mayBeSent(true);
    failed.add(Status.DEADLINE_EXCEEDED);
    assertFalse(failed.failure().getMessage().contains("it was not sent"));
    assertTrue(failed.failure().isOutcomeUnknown());
  }

  /** A future that has ended sends nothing more, and takes no permit with it. */
  @Test
  void nothingIsSentForAFutureThatHasEnded() throws Exception {
    final TreeIndex tree = new TreeIndex();
    try (TestServer server = TestServer.startWith(directory, tree, new TreeAdmin());
        IndexClient client = server.builder().maxInFlight(1).build()) {
      final OrderedIndex<Long, Long> index = client.ordered("many", Codec.int64(), Codec.int64());
      for (long i = 0; i < 200; i++) {
        index.put(i, i);
      }
      final CountDownLatch delivered = new CountDownLatch(1);
      final List<Long> keys = new ArrayList<>();
      final CompletableFuture<Long> scan = new CompletableFuture<>();
      final CompletableFuture<Long> end =
          index
              .async()
              .forEach(
                  index.scan(),
                  entry -> {
                    keys.add(entry.key());
                    delivered.countDown();
                    scan.join(); // until the test has ended the future
                  });
      delivered.await();
      end.completeExceptionally(new IllegalStateException("of the test"));
      scan.complete(0L);
      assertEquals(Optional.of(7L), index.get(7L)); // has got the permit
      assertEquals(1, keys.size());
      assertEquals(1, tree.pages.get());
    }
  }
}
