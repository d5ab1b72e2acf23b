package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.system.Await;
import io.grpc.CallOptions;
import io.grpc.ClientStreamTracer;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/**
 * Calls with a retry policy, on a channel of gRPC's own and on one with a ring, which keeps them on
 * gRPC: the server sees the same attempts, and the caller the same end.
 */
final class RetryPolicyTest extends RingFixture {
  private static final Metadata.Key<String> PREVIOUS = Bytes.ascii("grpc-previous-rpc-attempts");
  private static final Metadata.Key<String> PUSHBACK = Bytes.ascii("grpc-retry-pushback-ms");
  private static final int LONG_PAUSE_MS = 600_000;

  /** The channels that are compared. */
  private enum Over {
    GRPC,
    RING
  }

  /** Answers an attempt of a call; the first one is 0. */
  private interface Script {
    void answer(Served served, int attempt);
  }

  /** Makes the calls of a comparison. */
  private interface Calls {
    void make(Stage stage) throws Exception;
  }

  private final MethodDescriptor<byte[], byte[]> streaming =
      Bytes.method("any.Service/Any", MethodType.CLIENT_STREAMING);

  private Script script = (served, attempt) -> served.answer(served.request());
  private UnaryOperator<Map<String, Object>> policy = UnaryOperator.identity();
  private Map<String, ?> others = Map.of(); // parts of the config
  private String timeout = "60s";
  private Consumer<ManagedChannelBuilder<?>> settings = builder -> {};

  private Map<String, ?> config() {
    final Map<String, Object> retry = new HashMap<>();
    retry.put("maxAttempts", 3.0);
    retry.put("initialBackoff", "0.01s");
    retry.put("maxBackoff", "0.02s");
    retry.put("backoffMultiplier", 2.0);
    retry.put("retryableStatusCodes", List.of("UNAVAILABLE", 10.0));
    final Map<String, Object> config = new HashMap<>(others);
    config.put(
        "methodConfig",
        List.of(
            Map.of(
                "name",
                List.of(Map.of()),
                "timeout",
                timeout,
                "retryPolicy",
                policy.apply(retry))));
    return config;
  }

  /** A channel, and what it and its server have shown so far. */
  private static final class Stage {
    private final ManagedChannel channel;
    private final BlockingQueue<Served> attempts;
    private final AtomicInteger seenOfCall;
    private final List<String> seen = new ArrayList<>();

    Stage(ManagedChannel channel, BlockingQueue<Served> attempts, AtomicInteger seenOfCall) {
      this.channel = channel;
      this.attempts = attempts;
      this.seenOfCall = seenOfCall;
    }

    Exchange newCall(CallOptions options) {
      seenOfCall.set(0);
      return new Exchange(channel, Bytes.METHOD, options);
    }

    Exchange send(CallOptions options, int length) {
      return newCall(options).send(Bytes.metadata("own", "1"), new byte[length]);
    }

    Served takeAttempt() throws InterruptedException {
      return attempts.poll(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
    }

    /** Awaits the end of a call, and notes it with the attempts that the server has seen. */
    Exchange end(String what, Exchange call) throws InterruptedException {
      final Status status = call.await();
      final List<String> arrived = new ArrayList<>();
      for (Served served = attempts.poll(); served != null; served = attempts.poll()) {
        arrived.add(served.headers.get(PREVIOUS) + "/" + served.headers.get(Bytes.ascii("own")));
      }
      seen.add(
          what
              + ": "
              + status.getCode()
              + " "
              + (status.getCode() == Status.Code.DEADLINE_EXCEEDED ? "" : status.getDescription())
              + ", attempts "
              + arrived
              + ", headers "
              + (call.headers() == null ? null : call.headers().get(PREVIOUS))
              + ", "
              + call.events());
      return call;
    }

    Exchange call(String what) throws InterruptedException {
      return end(what, send(CallOptions.DEFAULT, 5));
    }
  }

  private List<String> run(Over over, Calls calls) throws Exception {
    final BlockingQueue<Served> attempts = new LinkedBlockingQueue<>();
    final AtomicInteger seenOfCall = new AtomicInteger();
    final Served.Handler handler =
        new Served.Handler(
            served -> {
              attempts.add(served);
              script.answer(served, seenOfCall.getAndIncrement());
            });
    final RingServer server =
        serve(
            handler,
            builder ->
                builder.addService(
                    ServerServiceDefinition.builder("any.Service")
                        .addMethod(streaming, refusingOnce(handler))
                        .build()));
    final ManagedChannelBuilder<?> builder =
        over == Over.GRPC
            ? NettyChannelBuilder.forAddress("localhost", server.getPort()).usePlaintext()
            : builder();
    settings.accept(builder.defaultServiceConfig(config()));
    final ManagedChannel channel =
        over == Over.RING ? connect((RingChannelBuilder) builder) : builder.build();
    final Stage stage = new Stage(channel, attempts, seenOfCall);
    try {
      calls.make(stage);
      if (over == Over.RING) {
        assertEquals(0, ((RingChannel) channel).ringCalls(), "calls over the ring");
      }
    } finally {
      channel.shutdownNow();
      assertTrue(channel.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
      server.shutdownNow();
      assertTrue(server.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    }
    return stage.seen;
  }

  /** Makes calls over both channels: gRPC's shows the number of attempts for each. */
  private void compare(List<Integer> attempts, Calls calls) throws Exception {
    final List<String> grpc = run(Over.GRPC, calls);
    assertEquals(
        attempts, grpc.stream().map(seen -> seen.split("/1").length - 1).toList(), grpc.toString());
    assertEquals(String.join("\n", grpc), String.join("\n", run(Over.RING, calls)));
  }

  /** Ends the first attempt of a call before its messages come. */
  private static ServerCallHandler<byte[], byte[]> refusingOnce(Served.Handler handler) {
    return (call, headers) -> {
      final ServerCall.Listener<byte[]> listener = handler.startCall(call, headers);
      if (!headers.containsKey(PREVIOUS)) {
        call.close(Status.UNAVAILABLE, new Metadata());
      }
      return listener;
    };
  }

  private static void fail(Served served, Status status) {
    served.call.close(status, new Metadata());
  }

  private static void fail(Served served, Status status, String pushback) {
    final Metadata trailers = new Metadata();
    trailers.put(PUSHBACK, pushback);
    served.call.close(status, trailers);
  }

  private static Status unavailable(int attempt) {
    return Status.UNAVAILABLE.withDescription("attempt " + attempt);
  }

  /** Lets a call succeed after so many attempts have failed. */
  private void failFirst(int failures) {
    script =
        (served, attempt) -> {
          if (attempt < failures) {
            fail(served, unavailable(attempt));
          } else {
            served.answer(served.request());
          }
        };
  }

  @Test
  void anAttemptThatFailsIsRepeated() throws Exception {
    failFirst(2);
    compare(List.of(3), stage -> assertEquals(5, stage.call("third").response().length));
  }

  @Test
  void theLastAttemptEndsTheCall() throws Exception {
    failFirst(9);
    compare(List.of(3), stage -> stage.call("all fail"));
    settings = builder -> builder.maxRetryAttempts(2);
    compare(List.of(2), stage -> stage.call("limit of the channel"));
  }

  @Test
  void onlyCodesOfThePolicyAreRepeatedAndOnlyBeforeHeaders() throws Exception {
    script = (served, attempt) -> fail(served, Status.INTERNAL.withDescription("broken"));
    compare(List.of(1), stage -> stage.call("another code"));
    script = (served, attempt) -> fail(served, Status.ABORTED.withDescription("by its number"));
    compare(List.of(3), stage -> stage.call("a code by its number"));
    script =
        (served, attempt) -> {
          served.call.sendHeaders(new Metadata());
          fail(served, unavailable(attempt));
        };
    compare(List.of(1), stage -> stage.call("after headers"));
  }

  @Test
  void anAnswerThatIsTooLongIsNotAskedForAgain() throws Exception {
    settings = builder -> builder.maxInboundMessageSize(4);
    policy =
        retry -> {
          retry.put("retryableStatusCodes", List.of("RESOURCE_EXHAUSTED"));
          return retry;
        };
    compare(List.of(1), stage -> stage.call("too long"));
  }

  @Test
  void theServerSaysWhenTheNextAttemptMayCome() throws Exception {
    script =
        (served, attempt) -> {
          if (attempt == 0) {
            fail(served, Status.INTERNAL, "0");
          } else {
            served.answer(served.request());
          }
        };
    compare(List.of(2), stage -> stage.call("any code"));
    script = (served, attempt) -> fail(served, unavailable(attempt), "-1");
    compare(List.of(1), stage -> stage.call("never"));
    script = (served, attempt) -> fail(served, unavailable(attempt), "soon");
    compare(List.of(1), stage -> stage.call("not a number"));
    script =
        (served, attempt) -> {
          if (attempt == 0) {
            fail(served, unavailable(attempt), "300");
          } else {
            served.answer(served.request());
          }
        };
    compare(
        List.of(2),
        stage -> {
          assertLasts(300, stage, "after a time");
        });
  }

  private static void assertLasts(long leastMs, Stage stage, String what) throws Exception {
    final long start = System.nanoTime();
    stage.call(what);
    final long took = System.nanoTime() - start;
    assertTrue(took >= TimeUnit.MILLISECONDS.toNanos(leastMs), "took " + took);
  }

  /** The pauses double up to the longest, each give or take a fifth. */
  @Test
  void pausesGrow() throws Exception {
    failFirst(4);
    policy =
        retry -> {
          retry.putAll(Map.of("maxAttempts", 5.0, "initialBackoff", "0.1s", "maxBackoff", "0.2s"));
          return retry;
        };
    compare(
        List.of(5),
        stage -> {
          assertLasts(560, stage, "four pauses");
        });
  }

  @Test
  void failuresThrottleRetries() throws Exception {
    others = Map.of("retryThrottling", Map.of("maxTokens", 5.0, "tokenRatio", 0.5));
    compare(
        List.of(3, 1, 1, 1, 1, 1, 1, 2),
        stage -> {
          failFirst(9);
          stage.call("5, 4 and 3 tokens");
          stage.call("2");
          stage.call("1");
          failFirst(0);
          for (int i = 0; i < 4; i++) {
            stage.call("answer");
          }
          for (int i = 0; i < 4; i++) {
            stage.send(CallOptions.DEFAULT, 5).response();
          }
          stage.attempts.clear();
          failFirst(2);
          stage.call("4 and 3");
        });
  }

  @Test
  void theDeadlineEndsThePause() throws Exception {
    script = (served, attempt) -> fail(served, unavailable(attempt), "" + LONG_PAUSE_MS);
    compare(
        List.of(1),
        stage ->
            stage.end(
                "deadline",
                stage.send(CallOptions.DEFAULT.withDeadlineAfter(300, TimeUnit.MILLISECONDS), 5)));
    timeout = "0.3s";
    compare(List.of(1), stage -> stage.call("timeout of the method"));
  }

  @Test
  void theTimeoutOfAMethodIsThatOfAllAttempts() throws Exception {
    timeout = "0.5s";
    policy =
        retry -> {
          retry.put("retryableStatusCodes", List.of("UNAVAILABLE", "DEADLINE_EXCEEDED"));
          return retry;
        };
    script =
        (served, attempt) -> {
          if (attempt == 0) {
            fail(served, unavailable(attempt), "200");
          }
        };
    compare(
        List.of(2),
        stage -> {
          assertLasts(490, stage, "timeout");
        });
  }

  /**
   * With gRPC a cancel that comes just before the pause takes effect after it; so this one waits,
   * longer for each call that had not come that far.
   */
  @Test
  void aCancelEndsThePause() throws Exception {
    script = (served, attempt) -> fail(served, unavailable(attempt), "" + LONG_PAUSE_MS);
    for (final Over over : Over.values()) {
      run(
          over,
          stage -> {
            Exchange call = null;
            for (int pauseMs = 10; call == null || !call.isClosed(); pauseMs *= 4) {
              assertTrue(pauseMs < TimeUnit.SECONDS.toMillis(TransportHarness.TIMEOUT_S));
              call = stage.send(CallOptions.DEFAULT, 5);
              stage.takeAttempt().awaitEnd();
              Thread.sleep(pauseMs);
              call.call().cancel("enough", null);
              Thread.sleep(pauseMs);
            }
            assertEquals(Status.Code.CANCELLED, call.await().getCode());
            assertEquals(0, stage.attempts.size());
          });
    }
  }

  @Test
  void messagesThatAreTooLongToKeepAreSentOnce() throws Exception {
    failFirst(1);
    settings = builder -> builder.perRpcBufferLimit(100);
    compare(
        List.of(1, 2),
        stage -> {
          stage.end("of a call", stage.send(CallOptions.DEFAULT, 200));
          stage.end("short", stage.send(CallOptions.DEFAULT, 50));
        });
    settings = builder -> builder.retryBufferSize(100);
    compare(
        List.of(1, 2, 2, 2),
        stage -> {
          stage.end("of a channel", stage.send(CallOptions.DEFAULT, 200));
          for (int i = 0; i < 3; i++) { // each gives back what it has kept
            stage.end("short", stage.send(CallOptions.DEFAULT, 60));
          }
        });
  }

  @Test
  void aChannelThatIsShutDownRepeatsCalls() throws Exception {
    failFirst(2);
    final Script failing = script;
    final CountDownLatch[] shutDown = new CountDownLatch[1];
    script =
        (served, attempt) -> {
          Await.latch(shutDown[0]);
          failing.answer(served, attempt);
        };
    compare(
        List.of(3),
        stage -> {
          shutDown[0] = new CountDownLatch(1);
          final Exchange call = stage.send(CallOptions.DEFAULT, 5);
          RingFixture.await("an attempt", () -> !stage.attempts.isEmpty());
          stage.channel.shutdown();
          shutDown[0].countDown();
          stage.end("shutdown", call);
        });
  }

  /** Each attempt has a tracer, with the number of those before. */
  @Test
  void tracersSeeAttempts() throws Exception {
    failFirst(2);
    final BlockingQueue<String> told = new LinkedBlockingQueue<>();
    final CallOptions traced =
        CallOptions.DEFAULT.withStreamTracerFactory(
            new ClientStreamTracer.Factory() {
              @Override
              public ClientStreamTracer newClientStreamTracer(
                  ClientStreamTracer.StreamInfo info, Metadata headers) {
                final String number = info.getPreviousAttempts() + " " + headers.get(PREVIOUS);
                return new ClientStreamTracer() {
                  @Override
                  public void streamClosed(Status status) {
                    told.add(number + " " + status.getCode());
                  }
                };
              }
            });
    for (final Over over : Over.values()) {
      run(over, stage -> stage.send(traced, 5).response());
      assertEquals("0 null UNAVAILABLE", told.take());
      assertEquals("1 1 UNAVAILABLE", told.take());
      assertEquals("2 2 OK", told.take());
    }
  }

  @Test
  void messagesOfAStreamAreSentAgain() throws Exception {
    for (final Over over : Over.values()) {
      run(
          over,
          stage -> {
            final Exchange call = new Exchange(stage.channel, streaming, CallOptions.DEFAULT);
            call.start();
            call.call().request(2);
            call.call().sendMessage(new byte[7]);
            call.call().halfClose();
            assertEquals(7, call.response().length);
            assertEquals("1", call.headers().get(PREVIOUS));
          });
    }
  }
}
