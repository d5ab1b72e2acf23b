package dev.ringfetch.rdma.faults;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Counters;
import dev.ringfetch.rdma.natives.RdmaAssumptions;
import dev.ringfetch.rdma.verbs.FaultyProvider;
import dev.ringfetch.rpc.Ports;
import dev.ringfetch.rpc.ReplyMode;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.system.Await;
import dev.ringfetch.system.HashIndex;
import io.grpc.CallOptions;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Long messages over verbs: the receiver READs them, and what becomes of them at a fault. */
@Tag("verbs")
@Timeout(300)
final class LongMessageTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 1);
  private static final int[] LENGTHS = {20_000, 65_536, 300_001, 1 << 20, 3_000_000};
  private static final String METHOD = "ringfetch.test.Echo/Echo";

  private final FaultyProvider provider = new FaultyProvider();
  private final FaultyProvider serverProvider = new FaultyProvider();
  private RingServer server;
  private RingChannel channel;

  @BeforeEach
  void device() {
    RdmaAssumptions.assumeDevice();
  }

  private void open(ReplyMode mode) throws Exception {
    int port = Ports.pick();
    server =
        FaultChild.serverBuilder(serverProvider, port)
            .addService(new HashIndex())
            .addService(echo())
            .build()
            .start();
    channel = FaultChild.channelBuilder(provider, port).replyMode(mode).build();
    FaultSteps.awaitVerbs("long messages, " + mode, channel);
  }

  @AfterEach
  void close() throws Exception {
    if (channel != null) {
      FaultSteps.end(channel);
      server.shutdownNow();
      assertTrue(server.awaitTermination(FaultSteps.WAIT_S, TimeUnit.SECONDS));
    }
  }

  private static ServerServiceDefinition echo() {
    return ServerServiceDefinition.builder("ringfetch.test.Echo")
        .addMethod(method(), ServerCalls.asyncUnaryCall(LongMessageTest::answer))
        .build();
  }

  private static void answer(byte[] request, StreamObserver<byte[]> answer) {
    byte[] reversed = new byte[request.length];
    for (int i = 0; i < request.length; i++) {
      reversed[i] = request[request.length - 1 - i];
    }
    answer.onNext(reversed);
    answer.onCompleted();
  }

  private static MethodDescriptor<byte[], byte[]> method() {
    return MethodDescriptor.<byte[], byte[]>newBuilder()
        .setType(MethodDescriptor.MethodType.UNARY)
        .setFullMethodName(METHOD)
        .setRequestMarshaller(new Bytes())
        .setResponseMarshaller(new Bytes())
        .build();
  }

  private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] message) {
      return new Known(message);
    }

    @Override
    public byte[] parse(InputStream stream) {
      try {
        return stream.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static final class Known extends ByteArrayInputStream implements KnownLength {
    Known(byte[] message) {
      super(message);
    }
  }

  private static long total(Counter counter) {
    return Counters.ofThisProcess().stream().mapToLong(all -> all.total(counter)).sum();
  }

  private void call(byte[] request) {
    byte[] answer = ClientCalls.blockingUnaryCall(channel, method(), CallOptions.DEFAULT, request);
    byte[] expected = new byte[request.length];
    for (int i = 0; i < expected.length; i++) {
      expected[i] = request[request.length - 1 - i];
    }
    assertArrayEquals(expected, answer);
  }

  private static byte[] bytes(Random random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  @ParameterizedTest
  @EnumSource
  void theyAreReadInBothDirections(ReplyMode mode) throws Exception {
    open(mode);
    System.out.printf("ringfetch.seed=%d%n", SEED);
    Random random = new Random(SEED);
    for (int i = 0; i < 4; i++) { // memory is offered, and attached
      call(bytes(random, 20_000));
    }
    long sent = total(Counter.SESSION_BULK_SENT);
    long received = total(Counter.SESSION_BULK_RECEIVED);
    long startNs = System.nanoTime();
    long length = 0;
    for (int round = 0; round < 3; round++) {
      for (int each : LENGTHS) {
        call(bytes(random, each));
        length += each;
      }
    }
    long tookMs = Await.millisSince(startNs);
    long read = total(Counter.SESSION_BULK_RECEIVED) - received;
    System.out.printf("%s: %d of %d bytes read in %d ms%n", mode, read, 2 * length, tookMs);
    assertEquals(total(Counter.SESSION_BULK_SENT) - sent, read);
    assertTrue(read > length, "read: " + read + " of " + 2 * length);
    assertEquals("verbs", channel.transport().name());
  }

  /** Many calls at once, each with its own bytes: nobody gets another's. */
  @Test
  void manyAtOnceDoNotMix() throws Exception {
    open(ReplyMode.PUSH);
    ExecutorService callers = Executors.newFixedThreadPool(4);
    try {
      Future<?>[] calls = new Future<?>[4];
      for (int i = 0; i < calls.length; i++) {
        Random random = new Random(SEED + i);
        calls[i] =
            callers.submit(
                () -> {
                  for (int round = 0; round < 8; round++) {
                    call(bytes(random, 17_000 + random.nextInt(400_000)));
                    call(bytes(random, 10));
                  }
                });
      }
      for (Future<?> each : calls) {
        each.get(FaultSteps.WAIT_S, TimeUnit.SECONDS);
      }
    } finally {
      callers.shutdownNow();
    }
  }

  /**
   * The connection breaks while messages are read: each call ends, and the next ones are served.
   */
  @Test
  void brokenConnectionEndsReadsUnderWay() throws Exception {
    open(ReplyMode.PUSH);
    byte[] request = bytes(new Random(SEED), 3_000_000);
    call(request);
    call(request);
    ExecutorService caller = Executors.newSingleThreadExecutor();
    try {
      for (int fault = 0; fault < 2; fault++) {
        long received = total(Counter.SESSION_BULK_RECEIVED);
        Future<String> called =
            caller.submit(
                () -> {
                  try {
                    for (int i = 0; i < 1_000; i++) {
                      call(request);
                    }
                    return "not hit";
                  } catch (StatusRuntimeException e) {
                    return e.getStatus().getCode().name();
                  }
                });
        Await.until(
            "reads", FaultSteps.WAIT_S, () -> total(Counter.SESSION_BULK_RECEIVED) > received);
        (fault == 0 ? provider : serverProvider).failQueuePair();
        assertEquals(
            Status.Code.UNAVAILABLE.name(), called.get(FaultSteps.WAIT_S, TimeUnit.SECONDS));
        FaultSteps.awaitVerbs("fault " + fault, channel);
        call(request);
      }
    } finally {
      caller.shutdownNow();
    }
  }
}
