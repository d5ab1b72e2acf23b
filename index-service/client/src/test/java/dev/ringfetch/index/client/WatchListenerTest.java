package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.WatchRequest;
import dev.ringfetch.index.v1.WatchResponse;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall;
import io.grpc.ForwardingClientCallListener;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the contract of a listener of a watch. */
@Timeout(60)
final class WatchListenerTest {
  private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);

  @TempDir Path directory;

  private final ManualThreads threads = new ManualThreads(null);

  /** A listener that records its calls, and checks that they do not overlap. */
  private static class Recorder implements WatchListener<String, Long> {
    final List<Long> versions = Collections.synchronizedList(new ArrayList<>());
    final List<ByteString> tokens = Collections.synchronizedList(new ArrayList<>());
    final List<IndexException> ends = Collections.synchronizedList(new ArrayList<>());
    final List<String> faults = Collections.synchronizedList(new ArrayList<>());
    final List<String> callers = Collections.synchronizedList(new ArrayList<>());
    private final AtomicInteger inside = new AtomicInteger();

    private void call(Runnable record) {
      callers.add(Thread.currentThread().getName());
      if (inside.incrementAndGet() != 1) {
        faults.add("two calls at once");
      }
      if (!ends.isEmpty()) {
        faults.add("a call after the end");
      }
      record.run();
      inside.decrementAndGet();
    }

    @Override
    public void onChange(IndexChange<String, Long> change) {
      call(
          () -> {
            versions.add(change.version());
            changed(change.version());
          });
    }

    /** Is called with each version. */
    void changed(long version) {}

    @Override
    public void onProgress(ByteString token) {
      call(() -> tokens.add(token));
    }

    @Override
    public void onEnd(IndexException failure) {
      call(() -> ends.add(failure));
    }
  }

  /** A listener that stays in its first call until it is let go. */
  private static class SlowRecorder extends Recorder {
    final CountDownLatch entered = new CountDownLatch(1);
    final CountDownLatch leaves = new CountDownLatch(1);

    @Override
    void changed(long version) {
      entered.countDown();
      try {
        leaves.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static void await(BooleanSupplier condition) throws InterruptedException {
    while (!condition.getAsBoolean()) {
      TimeUnit.MILLISECONDS.sleep(1);
    }
  }

  private static OrderedIndex<String, Long> tree(IndexClient client) {
    return client.ordered("tree", Codec.string(), Codec.int64());
  }

  /** Counts the messages that the watch has been given. */
  private static final class Received implements ClientInterceptor {
    final AtomicInteger messages = new AtomicInteger();

    @Override
    public <Q, R> ClientCall<Q, R> interceptCall(
        MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
      return new ForwardingClientCall.SimpleForwardingClientCall<>(next.newCall(method, options)) {
        @Override
        public void start(Listener<R> listener, Metadata headers) {
          super.start(
              new ForwardingClientCallListener.SimpleForwardingClientCallListener<>(listener) {
                @Override
                public void onMessage(R message) {
                  super.onMessage(message);
                  messages.incrementAndGet();
                }
              },
              headers);
        }
      };
    }
  }

  private static ManagedChannel channel(TestServer server, Received received) {
    return NettyChannelBuilder.forTarget(server.target())
        .usePlaintext()
        .intercept(received)
        .build();
  }

  private void seconds(int count) {
    for (int i = 0; i < count; i++) {
      threads.advance(SECOND_NS);
    }
  }

  @Test
  void callsDoNotOverlapAndVersionsGrowHoweverLongAListenerTakes() throws Exception {
    final int changes = 3000;
    final SlowRecorder slow = new SlowRecorder();
    try (TestServer server = TestServer.start(directory);
        IndexClient client = server.builder().threads(threads).build()) {
      final OrderedIndex<String, Long> tree = tree(client);
      tree.put("a", 0L);
      try (WatchSubscription<String, Long> watch = tree.watch(WatchOptions.fromNow(), slow)) {
        await(() -> !watch.token().isEmpty());
        tree.put("a", 1L);
        slow.entered.await();
        for (int i = 2; i <= changes; i++) {
          final var unused = tree.async().put("a", (long) i);
        }
        seconds(60); // calls for which the listener gets nothing come to their end, too
        slow.leaves.countDown();
        // A call that was given up is followed by another one.
        await(
            () -> {
              threads.advance(TimeUnit.MILLISECONDS.toNanos(1));
              return slow.versions.size() >= changes;
            });
        await(() -> slow.tokens.contains(watch.token()));
        assertEquals(slow.versions.stream().sorted().distinct().toList(), slow.versions);
        assertEquals(List.of(), slow.ends);
      }
      assertEquals(List.of(), slow.faults);
    }
  }

  @Test
  void aSlowListenerIsNoSilentServer() throws Exception {
    final SlowRecorder slow = new SlowRecorder();
    final Received received = new Received();
    final List<String> from = Collections.synchronizedList(new ArrayList<>());
    final FakeWatches fake =
        new FakeWatches() {
          @Override
          void answer(int call, WatchRequest request, StreamObserver<WatchResponse> responses) {
            from.add(request.getToken().toStringUtf8());
            if (call == 1) {
              responses.onNext(response("0"));
              responses.onNext(response("2", 1, 2));
              responses.onNext(response("4", 3, 4));
            } else if (request.getToken().toStringUtf8().equals("4")) {
              responses.onNext(response("5", 5));
            } // else silent again
          }
        };
    try (TestServer server = TestServer.startWith(directory, fake)) {
      final ManagedChannel channel = channel(server, received);
      try (IndexClient client = server.builder(channel).threads(threads).build();
          WatchSubscription<String, Long> watch =
              tree(client).watch(WatchOptions.fromNow(), slow)) {
        await(() -> received.messages.get() == 3);
        slow.entered.await();
        seconds(1000); // the client asks for nothing meanwhile
        assertEquals(1, fake.calls.get());
        slow.leaves.countDown();
        await(
            () -> { // silent now
              threads.advance(SECOND_NS / 10);
              return slow.versions.size() == 5 && watch.token().toStringUtf8().equals("5");
            });
      } finally {
        channel.shutdownNow();
      }
    }
    assertEquals(List.of("", "4"), from.subList(0, 2));
    assertEquals(List.of(1L, 2L, 3L, 4L, 5L), slow.versions);
    assertEquals(
        List.of("0", "2", "4", "5"), slow.tokens.stream().map(ByteString::toStringUtf8).toList());
    assertEquals(List.of(), slow.faults);
  }

  @Test
  void aPauseOfTheProcessIsNoSilenceOfTheServerAndNoOutage() throws Exception {
    final Recorder listener = new Recorder();
    final FakeWatches fake =
        new FakeWatches() {
          @Override
          void answer(int call, WatchRequest request, StreamObserver<WatchResponse> responses) {
            if (call == 2 || call == 3) {
              responses.onError(Status.UNAVAILABLE.withDescription("not now").asException());
            } else {
              responses.onNext(response("" + call));
            }
          }
        };
    final long hourNs = TimeUnit.HOURS.toNanos(1);
    try (TestServer server = TestServer.startWith(directory, fake)) {
      final ManagedChannel channel = channel(server, new Received());
      try (IndexClient client = server.builder(channel).threads(threads).build();
          WatchSubscription<String, Long> watch =
              tree(client)
                  .watch(WatchOptions.fromNow().outageLimit(Duration.ofSeconds(20)), listener)) {
        await(() -> !watch.token().isEmpty());
        threads.advance(hourNs);
        threads.advance(hourNs);
        seconds(WatchConnection.SILENCE_CHECKS - 2);
        assertEquals(1, threads.waiting(), "the next check");
        assertEquals(1, fake.calls.get());
        seconds(2); // given up, and a pause
        for (int call = 2; call <= 3; call++) {
          await(() -> threads.waiting() == 2); // the check of a call that has failed, and a pause
          assertEquals(call, fake.calls.get());
          threads.advance(hourNs);
        }
        await(() -> watch.token().toStringUtf8().equals("4"));
        assertEquals(List.of(), listener.ends);
      } finally {
        channel.shutdownNow();
      }
    }
  }

  @Test
  void theEndComesOnceAndLast() throws Exception {
    final SlowRecorder slow = new SlowRecorder();
    final Received received = new Received();
    final FakeWatches fake =
        new FakeWatches() {
          @Override
          void answer(int call, WatchRequest request, StreamObserver<WatchResponse> responses) {
            responses.onNext(response("0"));
            responses.onNext(response("2", 1, 2));
            responses.onNext(response("3", 3));
            responses.onError(Status.RESOURCE_EXHAUSTED.withDescription("slow").asException());
          }
        };
    try (TestServer server = TestServer.startWith(directory, fake)) {
      final ManagedChannel channel = channel(server, received);
      try (IndexClient client = server.builder(channel).threads(threads).build();
          WatchSubscription<String, Long> watch =
              tree(client).watch(WatchOptions.fromNow(), slow)) {
        slow.entered.await();
        await(() -> received.messages.get() == 3);
        seconds(20);
        slow.leaves.countDown();
        await(() -> !slow.ends.isEmpty());
        assertEquals("3", watch.token().toStringUtf8());
        seconds(20);
      } finally {
        channel.shutdownNow();
      }
    }
    assertEquals(1, slow.ends.size());
    assertTrue(slow.ends.get(0) instanceof FullException, slow.ends::toString);
    assertEquals(List.of(1L, 2L, 3L), slow.versions);
    assertEquals(List.of(), slow.faults);
  }

  /** A server with one response of two changes. */
  private static FakeWatches two() {
    return new FakeWatches() {
      @Override
      void answer(int call, WatchRequest request, StreamObserver<WatchResponse> responses) {
        responses.onNext(response("2", 1, 2));
      }
    };
  }

  @Test
  void aListenerMayCloseItsWatchAndThenItsClient() throws Exception {
    final CountDownLatch closed = new CountDownLatch(1);
    final CountDownLatch subscribed = new CountDownLatch(1);
    final List<AutoCloseable> closing = new ArrayList<>();
    final Recorder listener =
        new Recorder() {
          @Override
          void changed(long version) {
            try {
              subscribed.await();
              for (final AutoCloseable each : closing) {
                each.close();
              }
            } catch (Exception e) {
              faults.add(e.toString());
            }
            closed.countDown();
          }
        };
    final Recorder other = new Recorder();
    try (TestServer server = TestServer.startWith(directory, two())) {
      final IndexClient client = server.builder().threads(threads).build();
      closing.add(tree(client).watch(WatchOptions.fromNow(), listener));
      closing.add(client);
      final WatchSubscription<String, Long> open =
          tree(client).watch(WatchOptions.fromNow(), other);
      await(() -> other.tokens.size() == 1);
      subscribed.countDown();
      closed.await();
      await(() -> !other.ends.isEmpty());
      seconds(20);
      open.close();
    }
    assertEquals(List.of(1L), listener.versions);
    assertEquals(List.of(), listener.ends);
    assertEquals(List.of(), listener.faults);
    assertEquals(1, other.ends.size());
    assertEquals(List.of(), other.faults);
  }

  @Test
  void anErrorOfAListenerEndsItsWatch() throws Exception {
    final Recorder listener =
        new Recorder() {
          @Override
          void changed(long version) {
            throw new AssertionError("of the test");
          }
        };
    try (TestServer server = TestServer.startWith(directory, two());
        IndexClient client = server.connect();
        WatchSubscription<String, Long> watch =
            tree(client).watch(WatchOptions.fromNow(), listener)) {
      await(() -> !listener.ends.isEmpty());
      assertEquals("of the test", listener.ends.get(0).getCause().getMessage());
      assertTrue(watch.token().isEmpty());
    }
    assertEquals(List.of(1L), listener.versions);
  }

  @Test
  void aListenerIsCalledOnTheExecutorOfTheClient() throws Exception {
    final ExecutorService executor =
        Executors.newSingleThreadExecutor(task -> new Thread(task, "of the application"));
    final Recorder listener = new Recorder();
    try (TestServer server = TestServer.startWith(directory, two());
        IndexClient client = server.builder().executor(executor).build()) {
      try (WatchSubscription<String, Long> watch =
          tree(client).watch(WatchOptions.fromNow(), listener)) {
        await(() -> !watch.token().isEmpty());
      }
    } finally {
      executor.shutdownNow();
    }
    assertEquals(List.of("of the application"), listener.callers.stream().distinct().toList());
  }

  /** Then the listener runs on the thread that brings what the server sends. */
  @Test
  void aSlowListenerOfAnInlineExecutorIsNoSilentServer() throws Exception {
    final ManualThreads inline = new ManualThreads(Runnable::run);
    final SlowRecorder slow = new SlowRecorder();
    final FakeWatches fake =
        new FakeWatches() {
          @Override
          void answer(int call, WatchRequest request, StreamObserver<WatchResponse> responses) {
            responses.onNext(response("2", 1, 2));
            responses.onNext(response("4", 3, 4));
          }
        };
    try (TestServer server = TestServer.startWith(directory, fake);
        IndexClient client = server.builder().threads(inline).build();
        WatchSubscription<String, Long> watch = tree(client).watch(WatchOptions.fromNow(), slow)) {
      slow.entered.await();
      for (int i = 0; i < 20; i++) {
        inline.advance(SECOND_NS);
      }
      assertEquals(1, fake.calls.get());
      slow.leaves.countDown();
      await(() -> watch.token().toStringUtf8().equals("4"));
      assertEquals(1, fake.calls.get());
    }
    assertEquals(List.of(1L, 2L, 3L, 4L), slow.versions);
    assertEquals(List.of(), slow.faults);
  }

  /** Its second response comes after what other watches have got before. */
  @Test
  void aBusyWatchLeavesTheExecutorToOthers() throws Exception {
    final ExecutorService executor = Executors.newSingleThreadExecutor();
    final List<String> order = Collections.synchronizedList(new ArrayList<>());
    final SlowRecorder busy =
        new SlowRecorder() {
          @Override
          void changed(long version) {
            super.changed(version);
            order.add("busy " + version);
          }
        };
    final Recorder other =
        new Recorder() {
          @Override
          void changed(long version) {
            order.add("other " + version);
          }
        };
    final Received received = new Received();
    final FakeWatches fake =
        new FakeWatches() {
          @Override
          void answer(int call, WatchRequest request, StreamObserver<WatchResponse> responses) {
            responses.onNext(response("1", 1));
            if (call == 1) {
              responses.onNext(response("2", 2));
            }
          }
        };
    try (TestServer server = TestServer.startWith(directory, fake)) {
      final ManagedChannel channel = channel(server, received);
      try (IndexClient client = server.builder(channel).executor(executor).build();
          WatchSubscription<String, Long> first =
              tree(client).watch(WatchOptions.fromNow(), busy)) {
        busy.entered.await();
        await(() -> received.messages.get() == 2);
        try (WatchSubscription<String, Long> second =
            tree(client).watch(WatchOptions.fromNow(), other)) {
          await(() -> received.messages.get() == 3);
          busy.leaves.countDown();
          await(() -> !first.token().isEmpty() && !second.token().isEmpty() && order.size() == 3);
        }
      } finally {
        channel.shutdownNow();
      }
    } finally {
      executor.shutdownNow();
    }
    assertEquals(List.of("busy 1", "other 1", "busy 2"), order);
  }

  @Test
  void anExecutorThatRefusesTasksLosesNoCall() throws Exception {
    final Recorder listener = new Recorder();
    final AtomicInteger refused = new AtomicInteger();
    try (TestServer server = TestServer.startWith(directory, two())) {
      final ManagedChannel channel = channel(server, new Received());
      try (IndexClient client =
              server
                  .builder(channel)
                  .executor(
                      task -> {
                        refused.incrementAndGet();
                        throw new RejectedExecutionException("full");
                      })
                  .build();
          WatchSubscription<String, Long> watch =
              tree(client).watch(WatchOptions.fromNow(), listener)) {
        await(() -> watch.token().toStringUtf8().equals("2"));
      } finally {
        channel.shutdownNow();
      }
    }
    assertTrue(refused.get() > 0);
    assertEquals(List.of(1L, 2L), listener.versions);
    assertEquals(List.of(), listener.faults);
  }
}
