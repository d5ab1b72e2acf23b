package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.PutResponse;
import io.grpc.KnownLength;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerBuilder;
import io.grpc.ServerCall;
import io.grpc.ServerCallExecutorSupplier;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Handlers on bytes over each transport, and what they do to the definition of a service. */
final class LeanTest {
  @Nested
  final class OnRing extends LeanContract {
    OnRing() {
      super(() -> new RingHarness().server(server -> server.directExecutor()));
    }

    @Override
    boolean reuses() {
      return true;
    }

    @Override
    boolean blocksTheTransport() {
      return true;
    }
  }

  @Nested
  final class OnRingInline extends LeanContract {
    OnRingInline() {
      super(InlineHarness::new);
    }

    @Override
    boolean reuses() {
      return true;
    }
  }

  @Nested
  final class OnRingWithExecutor extends LeanContract {
    OnRingWithExecutor() {
      super(
          () ->
              new InlineHarness()
                  .server(server -> server.executor(task -> new Thread(task, "own").start())));
    }
  }

  @Nested
  final class OnRingWithCallExecutor extends LeanContract {
    OnRingWithCallExecutor() {
      super(() -> new RingHarness().server(LeanTest::callExecutor));
    }
  }

  private static void callExecutor(ServerBuilder<?> server) {
    server
        .directExecutor()
        .callExecutor(
            new ServerCallExecutorSupplier() {
              @Override
              public <Q, R> Executor getExecutor(ServerCall<Q, R> call, Metadata headers) {
                return task -> new Thread(task, "own").start();
              }
            });
  }

  @Nested
  final class OnRingBehindAnInterceptor extends LeanContract {
    OnRingBehindAnInterceptor() {
      super(
          () ->
              new RingHarness().server(server -> server.directExecutor().intercept(new Passing())));
    }

    @Override
    boolean blocksTheTransport() {
      return true;
    }
  }

  @Nested
  final class OnRingTraced extends LeanContract {
    OnRingTraced() {
      super(() -> new RingHarness().server(server -> server.directExecutor()).traced());
    }

    @Override
    boolean blocksTheTransport() {
      return true;
    }
  }

  @Nested
  final class OnRingTracedAtTheServer extends LeanContract {
    OnRingTracedAtTheServer() {
      super(
          () ->
              new RingHarness()
                  .server(
                      server ->
                          server.directExecutor().addStreamTracerFactory(new SilentTracers())));
    }

    @Override
    boolean blocksTheTransport() {
      return true;
    }
  }

  private static final class SilentTracers extends ServerStreamTracer.Factory {
    @Override
    public ServerStreamTracer newServerStreamTracer(String method, Metadata headers) {
      return new ServerStreamTracer() {};
    }
  }

  @Nested
  final class OnGrpc extends LeanContract {
    OnGrpc() {
      super(GrpcHarness::new);
    }
  }

  @Nested
  final class InProcess extends LeanContract {
    InProcess() {
      super(InProcessHarness::new);
    }
  }

  /** Sees the messages that it passes on. */
  private static final class Passing implements ServerInterceptor {
    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
      return next.startCall(call, headers);
    }
  }

  private static final int ROUND = 8_192;
  private static final int IN_FLIGHT = 64;
  private static final double MOST_BYTES = 200; // half of what an ordinary call takes
  private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(TransportHarness.TIMEOUT_S);

  private static final LeanHandler NONE = (call, request, offset, length) -> false;

  private static final class Index implements IndexGrpc.AsyncService {
    @Override
    public void get(GetRequest request, StreamObserver<GetResponse> responses) {
      responses.onCompleted();
    }

    @Override
    public void put(PutRequest request, StreamObserver<PutResponse> responses) {
      responses.onCompleted();
    }
  }

  @Test
  void theRestOfTheServiceStaysAsItIs() {
    final ServerServiceDefinition before = IndexGrpc.bindService(new Index());
    final ServerServiceDefinition after = Lean.replace(before, "Get", NONE);
    assertEquals(before.getMethods().size(), after.getMethods().size());
    assertSame(
        before.getServiceDescriptor().getSchemaDescriptor(),
        after.getServiceDescriptor().getSchemaDescriptor());
    before
        .getMethods()
        .forEach(
            method -> {
              final String name = method.getMethodDescriptor().getFullMethodName();
              if (!name.endsWith("/Get")) {
                assertSame(method, after.getMethod(name));
              }
            });
    assertSame(
        IndexGrpc.getGetMethod().getSchemaDescriptor(),
        after
            .getMethod(IndexGrpc.getGetMethod().getFullMethodName())
            .getMethodDescriptor()
            .getSchemaDescriptor());
  }

  @Test
  void onlyAUnaryMethodOfTheServiceIsReplaced() {
    final ServerServiceDefinition service = IndexGrpc.bindService(new Index());
    final String none =
        assertThrows(IllegalArgumentException.class, () -> Lean.replace(service, "None", NONE))
            .getMessage();
    assertEquals("no such method: method=" + IndexGrpc.SERVICE_NAME + "/None", none);
    final String streaming =
        assertThrows(IllegalArgumentException.class, () -> Lean.replace(service, "Scan", NONE))
            .getMessage();
    assertEquals("not a unary method: method=" + IndexGrpc.SERVICE_NAME + "/Scan", streaming);
    assertThrows(NullPointerException.class, () -> Lean.replace(service, "Get", null));
  }

  /** gRPC counts the requests of a unary call; an older version leaves that to handlers. */
  @Test
  void oneRequestIsServedAndNoOther() {
    final ServerServiceDefinition service =
        Lean.replace(
            ServerServiceDefinition.builder(Bytes.SERVICE)
                .addMethod(Bytes.METHOD, Bytes.digesting())
                .build(),
            "Call",
            LeanTest::echo);
    for (int messages = 0; messages <= 2; messages++) {
      final Closed call = new Closed();
      @SuppressWarnings("unchecked") // of a handler on bytes
      final ServerCallHandler<byte[], byte[]> handler =
          (ServerCallHandler<byte[], byte[]>)
              service.getMethod(Bytes.METHOD.getFullMethodName()).getServerCallHandler();
      final ServerCall.Listener<byte[]> listener = handler.startCall(call, new Metadata());
      for (int i = 0; i < messages; i++) {
        listener.onMessage(new byte[1]);
      }
      listener.onHalfClose();
      assertEquals(messages == 1 ? Status.Code.OK : Status.Code.INTERNAL, call.status.getCode());
    }
  }

  /** A call that remembers how it was closed. */
  private static final class Closed extends ServerCall<byte[], byte[]> {
    private Status status;

    @Override
    public void request(int messages) {}

    @Override
    public void sendHeaders(Metadata headers) {}

    @Override
    public void sendMessage(byte[] message) {}

    @Override
    public void close(Status how, Metadata trailers) {
      assertNull(status, "closed twice");
      status = how;
    }

    @Override
    public boolean isCancelled() {
      return false;
    }

    @Override
    public MethodDescriptor<byte[], byte[]> getMethodDescriptor() {
      return Bytes.METHOD;
    }
  }

  /**
   * Besides 16 bytes with which each round that finds work verifies the memory. It needs a round
   * whose handlers are all trusted, for which other processes leave no time.
   */
  @Tag("timing")
  @Test
  void aCallInThePollingThreadAllocatesNothing() throws Exception {
    final ServerServiceDefinition service =
        ServerServiceDefinition.builder(Bytes.SERVICE)
            .addMethod(Bytes.METHOD, Bytes.digesting())
            .build();
    try (TransportHarness harness =
        new InlineHarness()
            .server(server -> server.addService(Lean.replace(service, "Call", LeanTest::echo)))
            .start()) {
      final long start = System.nanoTime();
      double least = Double.MAX_VALUE;
      while (least > MOST_BYTES) { // of a round without a call in an executor
        assertTrue(System.nanoTime() - start < LIMIT_NS, "bytes of a call: " + least);
        final long before = pollersBytes();
        for (int i = 0; i < ROUND / IN_FLIGHT; i++) {
          final Exchange[] calls = new Exchange[IN_FLIGHT];
          for (int j = 0; j < IN_FLIGHT; j++) {
            calls[j] = new Exchange(harness.channel()).send(new byte[32]);
          }
          for (final Exchange call : calls) {
            assertEquals(32, call.response().length);
          }
        }
        least = Math.min(least, (double) (pollersBytes() - before) / ROUND);
      }
    }
  }

  private static boolean echo(LeanCall call, byte[] request, int offset, int length) {
    call.answer(request, offset, length);
    return true;
  }

  /** Bytes that all threads that are, or stand by for, a server's poller have allocated. */
  private static long pollersBytes() {
    final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long sum = 0;
    for (final Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread.getName().startsWith("ringfetch-server-")) {
        sum += Math.max(0, threads.getThreadAllocatedBytes(thread.getId()));
      }
    }
    return sum;
  }

  /** Bytes of an unknown number begin with a buffer of 8 KiB. */
  @Test
  void aMessageOfKnownLengthIsReadIntoAnArrayOfThatLength() throws IOException {
    final class Known extends ByteArrayInputStream implements KnownLength {
      Known(byte[] message) {
        super(message);
      }

      @Override
      public synchronized byte[] readAllBytes() {
        throw new AssertionError("of unknown length");
      }
    }

    final byte[] message = {1, 2, 3};
    assertArrayEquals(message, ByteMessages.INSTANCE.parse(new Known(message)));
    assertArrayEquals(message, ByteMessages.INSTANCE.parse(new ByteArrayInputStream(message)));
  }
}
