package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.google.common.util.concurrent.ListenableFuture;
import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import io.grpc.CallOptions;
import io.grpc.Drainable;
import io.grpc.Grpc;
import io.grpc.KnownLength;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** What is sent arrives: every length, through every stub, many at once. */
abstract class UnaryExchangeContract extends TransportContract {
  private static final int LIMIT = 4 * 1024 * 1024;
  private static final int FRAME = 32 * 1024;
  private static final int BULK = 16 * 1024;
  private static final int SLOT = 64;

  UnaryExchangeContract(Supplier<TransportHarness> harnesses) {
    super(harnesses);
  }

  /**
   * Every length of the first slots, around each power of two up to the limit, around where bulk
   * begins, and around the ends of a ring's frame and of chains of them.
   */
  private static List<Integer> lengths() {
    final List<Integer> lengths = new ArrayList<>();
    for (int length = 0; length <= 4 * SLOT; length++) {
      lengths.add(length);
    }
    for (int power = 2 * SLOT; power <= LIMIT; power *= 2) {
      lengths.addAll(List.of(power - 1, power));
      if (power < LIMIT) {
        lengths.add(power + 1);
      }
    }
    for (int length = BULK - SLOT; length <= BULK + SLOT; length += 8) {
      lengths.add(length);
    }
    for (int frames = 1; frames <= 3; frames++) {
      for (int less = -2; less <= 36; less++) { // less what a frame and a chain add
        lengths.add(frames * FRAME - frames * less);
      }
    }
    return lengths;
  }

  @Test
  void everyLengthArrives() throws Exception {
    start(Bytes.digesting());
    for (final int length : lengths()) {
      final byte[] request = Bytes.random(length, length);
      assertArrayEquals(Bytes.digest(request), blockingCall(request), "length=" + length);
    }
  }

  @Test
  void everyLengthArrivesWithMetadataAndDeadline() throws Exception {
    start(
        new Served.Handler(
            served ->
                served.answer(
                    served.headers, Bytes.digest(served.request()), Status.OK, served.headers)));
    final Metadata headers = Bytes.metadata("some", "thing");
    for (final int length : lengths()) {
      final byte[] request = Bytes.random(length, length);
      final Exchange call =
          exchange(
                  CallOptions.DEFAULT.withDeadlineAfter(
                      TransportHarness.TIMEOUT_S, TimeUnit.SECONDS))
              .send(headers, request);
      assertArrayEquals(Bytes.digest(request), call.response(), "length=" + length);
      assertEquals("thing", call.headers().get(Bytes.ascii("some")));
      assertEquals("thing", call.trailers().get(Bytes.ascii("some")));
    }
  }

  @Test
  void theLongestMessageThatIsAllowedArrives() throws Exception {
    start(Bytes.digesting());
    final byte[] request = Bytes.random(7, LIMIT);
    assertArrayEquals(Bytes.digest(request), blockingCall(request));
    assertServes();
  }

  @Test
  void everyStubBringsTheAnswer() throws Exception {
    start(Bytes.digesting());
    final byte[] request = Bytes.random(3, 100);
    final byte[] expected = Bytes.digest(request);
    assertArrayEquals(expected, blockingCall(request));
    final ListenableFuture<byte[]> future =
        ClientCalls.futureUnaryCall(
            harness.channel().newCall(Bytes.METHOD, CallOptions.DEFAULT), request);
    assertArrayEquals(expected, future.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    assertArrayEquals(
        expected,
        ClientCalls.blockingUnaryCall(
            harness.channel().newCall(Bytes.METHOD, CallOptions.DEFAULT), request));
    final CompletableFuture<List<byte[]>> observed = new CompletableFuture<>();
    ClientCalls.asyncUnaryCall(
        harness.channel().newCall(Bytes.METHOD, CallOptions.DEFAULT),
        request,
        new StreamObserver<>() {
          private final List<byte[]> messages = new ArrayList<>();

          @Override
          public void onNext(byte[] message) {
            messages.add(message);
          }

          @Override
          public void onError(Throwable t) {
            observed.completeExceptionally(t);
          }

          @Override
          public void onCompleted() {
            observed.complete(messages);
          }
        });
    final List<byte[]> messages = observed.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
    assertEquals(1, messages.size());
    assertArrayEquals(expected, messages.get(0));
  }

  @Test
  void generatedStubsAndServicesWork() throws Exception {
    harness
        .server(
            builder ->
                builder.addService(
                    new IndexGrpc.IndexImplBase() {
                      @Override
                      public void get(GetRequest request, StreamObserver<GetResponse> responses) {
                        final Entry entry =
                            Entry.newBuilder().setKey(request.getKey()).setVersion(42).build();
                        responses.onNext(GetResponse.newBuilder().setEntry(entry).build());
                        responses.onCompleted();
                      }
                    }))
        .start();
    final GetRequest request =
        GetRequest.newBuilder().setIndex("i").setKey(ByteString.copyFromUtf8("key")).build();
    final GetResponse blocking = harness.stub(IndexGrpc::newBlockingStub).get(request);
    assertEquals(request.getKey(), blocking.getEntry().getKey());
    assertEquals(
        blocking,
        harness
            .stub(IndexGrpc::newFutureStub)
            .get(request)
            .get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    final GetRequest nothing = GetRequest.getDefaultInstance(); // no bytes
    assertEquals(42, harness.stub(IndexGrpc::newBlockingStub).get(nothing).getEntry().getVersion());
  }

  @Test
  void manyCallsAtOnceKeepTheirAnswers() throws Exception {
    start(Bytes.digesting());
    final List<Exchange> calls = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      calls.add(exchange().send(Bytes.random(i, i % 300)));
    }
    for (int i = 0; i < calls.size(); i++) {
      assertArrayEquals(Bytes.digest(Bytes.random(i, i % 300)), calls.get(i).response());
    }
  }

  @Test
  void manyThreadsShareAChannel() throws Exception {
    start(Bytes.digesting());
    final ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      final List<Future<?>> results = new ArrayList<>();
      for (int thread = 0; thread < 4; thread++) {
        final Random random = new Random(thread);
        results.add(
            threads.submit(
                () -> {
                  for (int i = 0; i < 50; i++) {
                    final int length = random.nextInt(i % 10 == 0 ? 300_000 : 5_000);
                    final byte[] request = Bytes.random(random.nextLong(), length);
                    assertArrayEquals(Bytes.digest(request), blockingCall(request));
                  }
                }));
      }
      for (final Future<?> result : results) {
        assertNull(result.get(2 * TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
      }
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void aCallWithoutAMessageIsPassedOn() throws Exception {
    final Served.Handler handler = new Served.Handler(served -> served.answer(new byte[5]));
    start(handler);
    final Exchange call = exchange().start();
    call.call().request(2);
    call.call().halfClose();
    assertEquals(5, call.response().length);
    final Served served = handler.take();
    assertEquals("complete", served.awaitEnd());
    assertEquals(List.of("halfClose", "complete"), served.events());
    assertNull(served.request());
  }

  @Test
  void anEmptyMessageIsAMessage() throws Exception {
    final Served.Handler handler = Served.digesting();
    start(handler);
    assertEquals(0, exchange().send(Bytes.EMPTY).response().length);
    final Served served = handler.take();
    assertEquals("complete", served.awaitEnd());
    assertEquals(List.of("message", "halfClose", "complete"), served.events());
  }

  @Test
  void messagesAreMarshalledInEveryWayThatGrpcKnows() throws Exception {
    final List<Function<byte[], InputStream>> ways =
        List.of(
            ByteArrayInputStream::new,
            KnownStream::new,
            DrainedStream::new,
            DribblingStream::new,
            bytes -> new EstimatingStream(bytes, bytes.length),
            bytes -> new EstimatingStream(bytes, bytes.length / 2),
            bytes -> new EstimatingStream(bytes, 2 * bytes.length));
    harness.handle(Bytes.digesting());
    final List<MethodDescriptor<byte[], byte[]>> methods = new ArrayList<>();
    for (final Function<byte[], InputStream> way : ways) {
      final MethodDescriptor.Marshaller<byte[]> marshaller =
          new MethodDescriptor.Marshaller<>() {
            @Override
            public InputStream stream(byte[] value) {
              return way.apply(value);
            }

            @Override
            public byte[] parse(InputStream stream) {
              return Bytes.MARSHALLER.parse(stream);
            }
          };
      methods.add(Bytes.method(Bytes.METHOD.getFullMethodName(), marshaller, Bytes.MARSHALLER));
    }
    harness.start();
    for (final MethodDescriptor<byte[], byte[]> method : methods) {
      for (final int length : new int[] {0, 1, 32, 4095, 4096, 4097, 100_000}) {
        final byte[] request = Bytes.random(length, length);
        final byte[] response =
            ClientCalls.blockingUnaryCall(harness.channel(), method, CallOptions.DEFAULT, request);
        assertArrayEquals(Bytes.digest(request), response, "length=" + length);
      }
    }
  }

  @Test
  void anInboundMessageCanBeReadInPieces() throws Exception {
    final List<Integer> available = new ArrayList<>();
    final MethodDescriptor.Marshaller<byte[]> piecewise =
        new MethodDescriptor.Marshaller<>() {
          @Override
          public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
          }

          @Override
          public byte[] parse(InputStream stream) {
            try {
              if (stream instanceof KnownLength) {
                available.add(stream.available());
              }
              final byte[] bytes = new byte[10];
              bytes[0] = (byte) stream.read();
              assertEquals(4, stream.readNBytes(bytes, 1, 4));
              assertEquals(5, stream.readNBytes(bytes, 5, 5));
              assertEquals(-1, stream.read());
              assertEquals(-1, stream.read(bytes, 0, 3));
              assertEquals(0, stream.available());
              return bytes;
            } catch (IOException e) {
              throw new AssertionError(e);
            }
          }
        };
    start(Bytes.digesting());
    final byte[] request = Bytes.random(5, 10);
    final byte[] response =
        ClientCalls.blockingUnaryCall(
            harness.channel(),
            Bytes.method(Bytes.METHOD.getFullMethodName(), Bytes.MARSHALLER, piecewise),
            CallOptions.DEFAULT,
            request);
    assertArrayEquals(Bytes.digest(request), response);
    assertEquals(List.of(10), available);
  }

  @Test
  void aChannelSaysWhereItGoes() throws Exception {
    final Served.Handler handler = Served.digesting();
    start(handler);
    assertServes();
    final Served served = handler.take();
    assertEquals(harness.authority(), harness.channel().authority());
    assertEquals(harness.channel().authority(), served.call.getAuthority());
    assertNotNull(served.call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR));
    assertEquals(
        Bytes.METHOD.getFullMethodName(), served.call.getMethodDescriptor().getFullMethodName());
  }

  /** As protobuf's messages: knows its length. */
  private static final class KnownStream extends ByteArrayInputStream implements KnownLength {
    KnownStream(byte[] bytes) {
      super(bytes);
    }
  }

  /** Writes itself, in two ways. */
  private static final class DrainedStream extends ByteArrayInputStream implements Drainable {
    DrainedStream(byte[] bytes) {
      super(bytes);
    }

    @Override
    public int drainTo(OutputStream target) throws IOException {
      final byte[] all = readAllBytes();
      final int single = Math.min(3, all.length);
      for (int i = 0; i < single; i++) {
        target.write(all[i]);
      }
      target.write(all, single, all.length - single);
      return all.length;
    }
  }

  /** Writes itself, and only estimates its length. */
  private static final class EstimatingStream extends FilterInputStream implements Drainable {
    private final int estimate;

    EstimatingStream(byte[] bytes, int estimate) {
      super(new ByteArrayInputStream(bytes));
      this.estimate = estimate;
    }

    @Override
    public int available() {
      return estimate;
    }

    @Override
    public int drainTo(OutputStream target) throws IOException {
      return (int) in.transferTo(target);
    }
  }

  /** Gives less than it is asked for. */
  private static final class DribblingStream extends FilterInputStream {
    DribblingStream(byte[] bytes) {
      super(new ByteArrayInputStream(bytes));
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      return super.read(target, offset, Math.min(length, 777));
    }

    @Override
    public int available() {
      return 1;
    }
  }
}
