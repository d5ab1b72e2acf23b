package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.IndexServer;
import dev.ringfetch.index.service.IndexMemory;
import dev.ringfetch.index.service.IndexMemoryContext;
import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.WatchRequest;
import dev.ringfetch.index.v1.WatchResponse;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall;
import io.grpc.ForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Watches of the client: over a server that restarts, and over servers that misbehave. */
@Timeout(60)
class WatchTest {
  private static final Duration LONG = Duration.ofSeconds(20);

  @TempDir Path directory;
  @TempDir Path data;

  /** A server with a data directory, which another one can follow at the same port. */
  private final class DurableServer implements AutoCloseable {
    final Indexes indexes;
    final RingServer server;

    DurableServer(int port) throws IOException {
      indexes =
          new Indexes(
              IndexMemory.shared(
                  new IndexMemoryContext()
                      .fabrics("shm")
                      .shmDirectory(directory)
                      .dataDirectory(data)
                      .durability(Durability.DISK)
                      .budget(64L << 20)));
      final RingServerBuilder builder = RingServerBuilder.forPort(port).shmDirectory(directory);
      IndexServer.addServices(builder, indexes, new HealthStatusManager());
      server = builder.build().start();
    }

    int port() {
      return server.getPort();
    }

    @Override
    public void close() {
      server.shutdownNow();
      try {
        server.awaitTermination(30, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      indexes.close();
    }
  }

  private IndexClient connect(int port) {
    return IndexClient.builder()
        .target("localhost:" + port)
        .shmDirectory(directory)
        .deadline(LONG)
        .build();
  }

  private static OrderedIndex<String, Long> tree(IndexClient client) {
    return client.ordered("tree", Codec.string(), Codec.int64());
  }

  private static IndexChange<String, Long> take(Watch<String, Long> watch) {
    return watch.next(LONG).orElseThrow();
  }

  @Test
  void changesComeAsTheyAreMade() throws Exception {
    try (DurableServer server = new DurableServer(0);
        IndexClient client = connect(server.port())) {
      final OrderedIndex<String, Long> tree = tree(client);
      final IndexException missing =
          assertThrows(IndexException.class, () -> tree.watch(WatchOptions.fromNow()));
      assertEquals(Status.Code.NOT_FOUND, missing.code());
      tree.put("before", 0L);
      try (Watch<String, Long> all = tree.watch(WatchOptions.fromNow());
          Watch<String, Long> range =
              tree.watch(Range.prefix("b"), WatchOptions.fromNow().keysOnly());
          Watch<String, Long> key = tree.watchKey("c", WatchOptions.fromNow())) {
        assertEquals(Optional.empty(), all.next(Duration.ZERO));
        final long version = tree.put("a", 1L);
        tree.put("b", 2L);
        tree.remove("b");
        tree.put("c", 3L);
        assertEquals(
            new IndexChange<>(
                IndexChange.Kind.PUT, "a", Optional.of(1L), version, true, Optional.empty()),
            take(all));
        assertEquals("b", take(all).key());
        final IndexChange<String, Long> removal = take(all);
        assertEquals(IndexChange.Kind.DELETE, removal.kind());
        assertEquals(Optional.empty(), removal.value());
        assertEquals("c", take(all).key());
        assertEquals(Optional.empty(), take(range).value());
        assertEquals(IndexChange.Kind.DELETE, take(range).kind());
        assertEquals("c", take(key).key());
        assertEquals(Optional.empty(), key.next(Duration.ofMillis(1)));
      }
      final HashIndex<String, Long> ages = client.hash("ages", Codec.string(), Codec.int64());
      ages.put("a", 1L);
      try (Watch<String, Long> one = ages.watchKey("b", WatchOptions.fromNow())) {
        ages.put("c", 1L);
        ages.put("b", 1L);
        assertEquals("b", take(one).key());
      }
    }
  }

  @Test
  void aWatchGoesOnWithTheNextServer() throws Exception {
    DurableServer server = new DurableServer(0);
    final int port = server.port();
    try (IndexClient client = connect(port)) {
      final OrderedIndex<String, Long> tree = tree(client);
      tree.put("a", 0L);
      final List<IndexChange<String, Long>> heard = Collections.synchronizedList(new ArrayList<>());
      try (Watch<String, Long> watch = tree.watch(WatchOptions.fromNow());
          WatchSubscription<String, Long> subscription =
              tree.watch(
                  WatchOptions.from(watch.token()),
                  new WatchListener<>() {
                    @Override
                    public void onChange(IndexChange<String, Long> change) {
                      heard.add(change);
                    }

                    @Override
                    public void onEnd(IndexException failure) {
                      heard.add(null);
                    }
                  })) {
        for (long i = 1; i <= 3; i++) {
          tree.put("a", i);
          if (i == 1) {
            assertEquals(Optional.of(1L), take(watch).value());
          }
          server.close();
          server = new DurableServer(port);
          assertEquals(Optional.of(i), tree.get("a")); // waits for the server, as a put does not
        }
        tree.put("a", 4L);
        for (long i = 2; i <= 4; i++) {
          assertEquals(Optional.of(i), take(watch).value());
        }
        assertEquals(Optional.empty(), watch.next(Duration.ofMillis(50)));
        while (heard.size() < 4) {
          TimeUnit.MILLISECONDS.sleep(5);
        }
        assertEquals(
            List.of(1L, 2L, 3L, 4L),
            heard.stream().map(change -> change.value().orElseThrow()).toList());
        assertEquals(watch.token(), subscription.token());
      }
    } finally {
      server.close();
    }
  }

  @Test
  @SuppressWarnings("try") // closes before the block ends
  void aDroppedIndexAndAClosedClientEndAWatch() throws Exception {
    try (DurableServer server = new DurableServer(0);
        IndexClient client = connect(server.port())) {
      final OrderedIndex<String, Long> tree = tree(client);
      tree.put("a", 0L);
      final Watch<String, Long> watch = tree.watch(WatchOptions.fromNow());
      assertTrue(client.drop("tree"));
      final IndexException dropped = assertThrows(IndexException.class, () -> watch.next(LONG));
      assertEquals(Status.Code.ABORTED, dropped.code());
      assertSame(dropped, assertThrows(IndexException.class, () -> watch.next(LONG)));
      watch.close();
      assertThrows(IllegalStateException.class, () -> watch.next(LONG));
      tree.put("a", 0L);
      final Watch<String, Long> last = tree.watch(WatchOptions.fromNow());
      client.close();
      assertThrows(IndexException.class, () -> last.next(LONG));
    }
  }

  @Test
  void historyThatIsGoneIsAnExceptionWithTheOldestToken() throws Exception {
    final ByteString oldest = ByteString.copyFromUtf8("oldest");
    final FakeWatches fake =
        new FakeWatches() {
          @Override
          void answer(int call, WatchRequest request, StreamObserver<WatchResponse> responses) {
            responses.onNext(response("first"));
            final Metadata trailers = new Metadata();
            trailers.put(
                Metadata.Key.of("ringfetch-oldest-token-bin", Metadata.BINARY_BYTE_MARSHALLER),
                oldest.toByteArray());
            responses.onError(Status.OUT_OF_RANGE.withDescription("gone").asException(trailers));
          }
        };
    try (TestServer server = TestServer.startWith(directory, fake);
        IndexClient client = server.connect()) {
      final Watch<String, Long> watch = tree(client).watch(WatchOptions.fromNow());
      final HistoryGoneException gone =
          assertThrows(HistoryGoneException.class, () -> watch.next(LONG));
      assertEquals(oldest, gone.oldestToken());
      assertEquals(1, fake.calls.get()); // it does not try again
    }
  }

  @Test
  void aServerThatRefusesAgainAndAgainIsAskedLessAndLess() throws Exception {
    final FakeWatches fake =
        new FakeWatches() {
          @Override
          void answer(int call, WatchRequest request, StreamObserver<WatchResponse> responses) {
            responses.onNext(response("first"));
            responses.onError(Status.UNAVAILABLE.withDescription("not now").asException());
          }
        };
    try (TestServer server = TestServer.startWith(directory, fake);
        IndexClient client = server.connect();
        Watch<String, Long> watch = tree(client).watch(WatchOptions.fromNow())) {
      assertEquals(Optional.empty(), watch.next(Duration.ofMillis(1500)));
      // Pauses of at least 25, 50, 100, 200, 400, 800 ms.
      assertTrue(fake.calls.get() >= 2 && fake.calls.get() <= 7, "calls=" + fake.calls);
    }
  }

  @Test
  void anOutageEndsAWatchAfterItsLimit() throws Exception {
    final FakeWatches fake =
        new FakeWatches() {
          @Override
          void answer(int call, WatchRequest request, StreamObserver<WatchResponse> responses) {
            if (call == 1) {
              responses.onNext(response("first"));
            }
            responses.onError(Status.UNAVAILABLE.withDescription("not now").asException());
          }
        };
    try (TestServer server = TestServer.startWith(directory, fake);
        IndexClient client = server.connect()) {
      final Watch<String, Long> watch =
          tree(client).watch(WatchOptions.fromNow().outageLimit(Duration.ofMillis(200)));
      final UnavailableException end =
          assertThrows(UnavailableException.class, () -> watch.next(LONG));
      assertEquals("not now", end.description());
    }
  }

  @Test
  void aSilentServerIsGivenUpAndTheWatchGoesOnFromTheLastToken() throws Exception {
    final List<String> tokens = Collections.synchronizedList(new ArrayList<>());
    final FakeWatches fake =
        new FakeWatches() {
          @Override
          void answer(int call, WatchRequest request, StreamObserver<WatchResponse> responses) {
            tokens.add(request.getToken().toStringUtf8());
            responses.onNext(response("token " + call)); // and nothing more
            if (call == 2) {
              responses.onError(Status.RESOURCE_EXHAUSTED.withDescription("limit=1").asException());
            }
          }
        };
    try (TestServer server = TestServer.startWith(directory, fake);
        IndexClient client = server.connect()) {
      final Watch<String, Long> watch = tree(client).watch(WatchOptions.fromNow());
      final long begin = System.nanoTime();
      final FullException slow = assertThrows(FullException.class, () -> watch.next(LONG));
      assertTrue(slow.description().contains("limit=1"), slow.description());
      assertEquals(List.of("", "token 1"), tokens);
      assertTrue(
          System.nanoTime() - begin
              >= TimeUnit.SECONDS.toNanos(WatchConnection.SILENCE_CHECKS - 1));
    }
  }

  /** gRPC does not say UNAVAILABLE where a connection closes while a call begins on it. */
  @Test
  void aConnectionThatClosesUnderTheCallEndsNoWatch() throws Exception {
    final List<String> tokens = Collections.synchronizedList(new ArrayList<>());
    final FakeWatches fake =
        new FakeWatches() {
          @Override
          void answer(int call, WatchRequest request, StreamObserver<WatchResponse> responses) {
            tokens.add(request.getToken().toStringUtf8());
            responses.onNext(response("token " + call));
            responses.onError(
                (call == 1 ? Status.UNAVAILABLE : Status.RESOURCE_EXHAUSTED).asException());
          }
        };
    final Status closed =
        Status.UNKNOWN.withDescription("channel closed").withCause(new ClosedChannelException());
    try (TestServer server = TestServer.startWith(directory, fake);
        IndexClient client =
            server
                .builder(
                    NettyChannelBuilder.forTarget(server.target())
                        .usePlaintext()
                        .intercept(new Replaced(Status.Code.UNAVAILABLE, closed))
                        .build())
                .build();
        Watch<String, Long> watch = tree(client).watch(WatchOptions.fromNow())) {
      assertThrows(FullException.class, () -> watch.next(LONG));
      assertEquals(List.of("", "token 1"), tokens);
    }
  }

  /** Ends calls with another status where they end with this code. */
  record Replaced(Status.Code code, Status by) implements ClientInterceptor {
    @Override
    public <Q, R> ClientCall<Q, R> interceptCall(
        MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
      return new ForwardingClientCall.SimpleForwardingClientCall<>(next.newCall(method, options)) {
        @Override
        public void start(Listener<R> listener, Metadata headers) {
          super.start(
              new ForwardingClientCallListener.SimpleForwardingClientCallListener<>(listener) {
                @Override
                public void onClose(Status status, Metadata trailers) {
                  super.onClose(status.getCode() == code ? by : status, trailers);
                }
              },
              headers);
        }
      };
    }
  }

  @Test
  void aListenerThatThrowsEndsItsWatchAlone() throws Exception {
    try (DurableServer server = new DurableServer(0);
        IndexClient client = connect(server.port())) {
      final OrderedIndex<String, Long> tree = tree(client);
      tree.put("a", 0L);
      final List<IndexException> ends = Collections.synchronizedList(new ArrayList<>());
      try (Watch<String, Long> watch = tree.watch(WatchOptions.fromNow())) {
        final WatchSubscription<String, Long> subscription =
            tree.watch(
                WatchOptions.from(watch.token()),
                new WatchListener<>() {
                  @Override
                  public void onChange(IndexChange<String, Long> change) {
                    throw new IllegalArgumentException("of the test");
                  }

                  @Override
                  public void onEnd(IndexException failure) {
                    ends.add(failure);
                  }
                });
        tree.put("a", 1L);
        tree.put("a", 2L);
        take(watch);
        take(watch);
        while (ends.isEmpty()) {
          TimeUnit.MILLISECONDS.sleep(5);
        }
        subscription.close();
        assertEquals(1, ends.size());
        assertEquals("of the test", ends.get(0).getCause().getMessage());
        assertFalse(watch.next(Duration.ofMillis(20)).isPresent());
      }
    }
  }
}
