package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.client.UnreliableWrites.Fate;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.CreateIndexResponse;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.OpenClientRequest;
import dev.ringfetch.index.v1.OpenClientResponse;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** More operations than may be under way: callers wait, and nobody is told less than is known. */
@Timeout(120)
final class InFlightTest {
  private static final Duration SHORT = Duration.ofMillis(150);

  @TempDir Path directory;

  private static HashIndex<String, String> view(IndexClient client) {
    return client.hash("a", Codec.string(), Codec.string());
  }

  private static OverloadedException overloaded(CompletableFuture<?> future) {
    final Throwable failure =
        assertThrows(ExecutionException.class, () -> future.get(60, TimeUnit.SECONDS)).getCause();
    return assertInstanceOf(OverloadedException.class, failure);
  }

  private static void isUnsent(OverloadedException e, String limit) {
    assertEquals(Status.Code.RESOURCE_EXHAUSTED, e.code());
    assertFalse(e.isOutcomeUnknown(), e::getMessage);
    assertTrue(e.getMessage().contains(limit), e::getMessage);
    assertTrue(e.getMessage().contains("it was not sent"), e::getMessage);
  }

  /** Far more than may be under way, all at once: none is refused, and none times out. */
  @Test
  void allWritesOfAFastCallerAreCarriedOut() throws IOException {
    final int writes = 20_000;
    try (TestServer server = TestServer.start(directory);
        IndexClient client = server.builder().maxInFlight(64).build()) {
      final OrderedIndex<Long, Long> index = client.ordered("many", Codec.int64(), Codec.int64());
      final AtomicInteger underWay = new AtomicInteger();
      final AtomicInteger most = new AtomicInteger();
      final List<CompletableFuture<Void>> puts = new ArrayList<>();
      for (long i = 0; i < writes; i++) {
        final CompletableFuture<Long> put = index.async().put(i, i);
        most.accumulateAndGet(underWay.incrementAndGet(), Math::max);
        puts.add(put.thenAccept(version -> underWay.decrementAndGet()));
      }
      CompletableFuture.allOf(puts.toArray(new CompletableFuture<?>[0])).join();
      assertEquals(writes, index.count());
      assertTrue(most.get() <= 2 * 64, () -> "most=" + most); // some are still being counted
    }
  }

  @Test
  void aCallerWaitsForATurnUntilItsDeadline() throws Exception {
    final StuckIndex stuck = new StuckIndex();
    try (TestServer server = TestServer.startWith(directory, stuck, new TreeAdmin());
        IndexClient client =
            server.builder().deadline(Duration.ofMinutes(5)).maxInFlight(2).build()) {
      final HashIndex<String, String> index = view(client);
      final CompletableFuture<Optional<String>> first = index.async().get("a");
      final CompletableFuture<Optional<String>> second = index.async().get("b");
      final HashIndex<String, String> brief = index.deadline(SHORT);
      final long beginNs = System.nanoTime();
      isUnsent(assertThrows(OverloadedException.class, () -> brief.get("c")), "maxInFlight=2");
      assertTrue(System.nanoTime() - beginNs >= SHORT.toNanos());
      isUnsent(assertThrows(OverloadedException.class, () -> brief.put("c", "d")), "maxInFlight=2");
      isUnsent(overloaded(brief.async().put("c", "d")), "maxInFlight=2");
      assertThrows(
          OverloadedException.class,
          () -> client.ordered("a", Codec.string(), Codec.string()).deadline(SHORT).first());
      assertEquals(2, stuck.gets.get());

      stuck.answering = true;
      final CompletableFuture<Optional<String>> third = new CompletableFuture<>();
      final Thread waiting = new Thread(() -> third.complete(index.get("c")));
      waiting.start();
      while (waiting.getState() != Thread.State.TIMED_WAITING) {
        Thread.onSpinWait(); // the test's timeout ends it
      }
      assertTrue(first.cancel(true)); // makes room
      assertEquals(Optional.empty(), third.get(60, TimeUnit.SECONDS));
      assertFalse(second.isDone());
    }
  }

  /** Its thread may be the one that brings the answers for which it would wait. */
  @SuppressWarnings("try") // closes before the block ends
  @Test
  void aCallbackNeverWaits() throws Exception {
    final StuckIndex stuck = new StuckIndex();
    stuck.answering = true;
    try (TestServer server = TestServer.startWith(directory, stuck, new TreeAdmin());
        IndexClient client =
            server.builder().deadline(Duration.ofMinutes(5)).maxInFlight(1).build()) {
      final HashIndex<String, String> index = view(client);
      final CountDownLatch called = new CountDownLatch(1);
      final AtomicReference<CompletableFuture<Long>> refused = new AtomicReference<>();
      final AtomicReference<RuntimeException> blocking = new AtomicReference<>();
      final CompletableFuture<String> all =
          index
              .async()
              .update(
                  "a", // no comparison holds there: the function is called by the client's thread
                  value -> {
                    if (called.getCount() > 0) {
                      refused.set(index.async().put("c", "d"));
                      try {
                        index.get("c");
                      } catch (OverloadedException e) {
                        blocking.set(e);
                      }
                      called.countDown();
                    }
                    return "b";
                  });
      assertTrue(called.await(60, TimeUnit.SECONDS));
      assertTrue(refused.get().isDone(), "it has not waited");
      isUnsent(overloaded(refused.get()), "maxInFlight=1");
      assertNotNull(blocking.get());
      assertFalse(all.isDone());
      client.close();
      assertThrows(CompletionException.class, all::join);
    }
  }

  /** It runs on a thread of the channel, too. */
  @Test
  void aConsumerOfASnapshotNeverWaits() throws Exception {
    final CountDownLatch stuck = new CountDownLatch(1);
    final TreeIndex tree =
        new TreeIndex() {
          @Override
          public void get(GetRequest request, StreamObserver<GetResponse> responses) {
            stuck.countDown(); // and there is no answer
          }
        };
    try (TestServer server = TestServer.startWith(directory, tree, new TreeAdmin());
        IndexClient client =
            server.builder().deadline(Duration.ofMinutes(5)).maxInFlight(1).build()) {
      final OrderedIndex<Long, Long> index = client.ordered("tree", Codec.int64(), Codec.int64());
      index.put(1L, 1L);
      final CompletableFuture<Optional<Long>> first = index.async().get(1L);
      stuck.await();
      final List<CompletableFuture<Long>> refused = new ArrayList<>();
      final long seen =
          index
              .async()
              .forEach(index.scan().snapshot(), entry -> refused.add(index.async().put(2L, 2L)))
              .get(60, TimeUnit.SECONDS);
      assertEquals(1, seen);
      isUnsent(overloaded(refused.get(0)), "maxInFlight=1");
      assertFalse(first.isDone());
    }
  }

  /** The threads that wait do not keep a callback from the room of its own operation. */
  @Test
  void aCallbackFindsRoomWhileCallersWait() throws Exception {
    final int writes = 5_000;
    try (TestServer server = TestServer.start(directory);
        IndexClient client = server.builder().maxInFlight(4).build()) {
      final OrderedIndex<Long, Long> index = client.ordered("many", Codec.int64(), Codec.int64());
      final List<CompletableFuture<Long>> all = new ArrayList<>();
      for (long i = 0; i < writes; i++) {
        final long next = i + writes;
        all.add(index.async().put(i, i).thenCompose(version -> index.async().put(next, version)));
      }
      CompletableFuture.allOf(all.toArray(new CompletableFuture<?>[0])).get(60, TimeUnit.SECONDS);
      assertEquals(2 * writes, index.count());
    }
  }

  /** The one write has the only permit; the other one must not open first and wait for it then. */
  @Test
  void aWriteThatAsksForANumberHasItsTurn() throws Exception {
    final TreeIndex tree =
        new TreeIndex() {
          @Override
          public void openClient(
              OpenClientRequest request, StreamObserver<OpenClientResponse> responses) {
            answer(
                responses,
                OpenClientResponse.newBuilder().setClient(7).setLeaseMs(600_000).build());
          }
        };
    final CountDownLatch asked = new CountDownLatch(1);
    final CountDownLatch answers = new CountDownLatch(1);
    final TreeAdmin admin =
        new TreeAdmin() {
          @Override
          public void createIndex(
              CreateIndexRequest request, StreamObserver<CreateIndexResponse> responses) {
            asked.countDown();
            try {
              answers.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
            super.createIndex(request, responses);
          }
        };
    try (TestServer server = TestServer.startWith(directory, tree, admin);
        IndexClient client =
            server.builder().deadline(Duration.ofMinutes(5)).maxInFlight(1).build()) {
      final HashIndex<String, String> index = view(client);
      final CompletableFuture<Long> put = index.async().put("a", "1");
      asked.await();
      final CompletableFuture<Boolean> removed = new CompletableFuture<>();
      final Thread waiting = new Thread(() -> removed.complete(index.remove("a")));
      waiting.start();
      while (waiting.getState() != Thread.State.TIMED_WAITING) {
        Thread.onSpinWait(); // the test's timeout ends it
      }
      answers.countDown();
      put.get(60, TimeUnit.SECONDS);
      assertTrue(removed.get(60, TimeUnit.SECONDS));
    }
  }

  /** The room is there before the application learns that an operation has ended. */
  @Test
  void aCallbackFindsTheRoomOfItsOwnOperation() throws Exception {
    try (TestServer server = TestServer.start(directory);
        IndexClient client = server.builder().maxInFlight(1).build()) {
      final HashIndex<String, String> index = view(client);
      final CompletableFuture<Optional<String>> read =
          index
              .async()
              .put("a", "1")
              .thenCompose(version -> index.async().update("a", value -> value.orElseThrow() + 2))
              .thenCompose(value -> index.async().get("a"));
      assertEquals(Optional.of("12"), read.get(60, TimeUnit.SECONDS));
      final String last = // the function may use the client, too
          index.update("a", value -> index.get("a").orElseThrow() + 3);
      assertEquals("123", last);
      final CompletableFuture<Optional<String>> late =
          index.async().get("a").orTimeout(1, TimeUnit.NANOSECONDS);
      assertTrue(late.handle((value, failure) -> true).get(60, TimeUnit.SECONDS));
      assertEquals(Optional.of("123"), index.get("a"));
    }
    assertThrows(IllegalArgumentException.class, () -> IndexClient.builder().maxInFlight(0));
  }

  /** Nothing was done, so the client sends again, writes without numbers as well. */
  @Test
  void aServerWithTooMuchToDoIsAskedAgain() throws Exception {
    final UnreliableWrites writes = new UnreliableWrites();
    try (TestServer server = TestServer.start(directory)) {
      final ManagedChannel channel = server.channel(writes);
      try {
        for (final boolean numbered : new boolean[] {true, false}) {
          try (IndexClient client = server.builder(channel).exactlyOnce(numbered).build()) {
            final HashIndex<String, String> index = view(client);
            final AtomicInteger refusals = new AtomicInteger(3);
            writes.fates = () -> refusals.getAndDecrement() > 0 ? Fate.OVERLOADED : Fate.NONE;
            index.put("a", "1");
            refusals.set(3);
            index.async().putAll(Map.of("b", "2")).get(60, TimeUnit.SECONDS);
            assertEquals(2, index.getAll(List.of("a", "b")).size());
            writes.fates = () -> Fate.OVERLOADED;
            final HashIndex<String, String> brief = index.deadline(SHORT);
            final OverloadedException e =
                assertThrows(OverloadedException.class, () -> brief.put("a", "3"));
            assertFalse(e.isOutcomeUnknown(), e::getMessage);
            assertFalse(overloaded(brief.async().remove("a")).isOutcomeUnknown());
            writes.fates = () -> Fate.NONE;
            assertEquals(Optional.of("1"), index.get("a"));
          }
        }
      } finally {
        channel.shutdownNow();
      }
    }
  }
}
