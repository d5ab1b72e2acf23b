package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls of bytes give the same, whatever carries them. */
final class UnaryCallTest extends UnaryCallFixture {
  @ParameterizedTest
  @EnumSource(Way.class)
  void answersOfAllLengths(Way way) throws Exception {
    serve(Bytes.digesting());
    final RingChannel channel = connect(way);
    final UnaryCall call = channel.newUnaryCall(Bytes.METHOD, ends);
    int calls = 0;
    for (final int length : new int[] {0, 1, 32, 33, 5_000, 16 << 10, (16 << 10) + 1, 1 << 20}) {
      final byte[] request = Bytes.random(length, length + 14);
      for (int round = 0; round < 3; round++) {
        final Status status = call.run(request, 7, length, TimeUnit.SECONDS.toNanos(60));
        assertSame(Status.OK, status);
        final byte[] message = new byte[length];
        System.arraycopy(request, 7, message, 0, length);
        assertArrayEquals(Bytes.digest(message), ends.take().answer);
        calls++;
      }
    }
    assertEquals(way == Way.GRPC ? 0 : calls, channel.ringCalls());
    assertEquals(way == Way.GRPC ? calls : 0, channel.grpcCalls());
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void aFailureHasItsStatusAndTrailers(Way way) throws Exception {
    final Status status = Status.NOT_FOUND.withDescription("nothing of that name");
    serve(
        new Served.Handler(served -> served.call.close(status, Bytes.metadata("detail", "much"))));
    final UnaryCall call = connect(way).newUnaryCall(Bytes.METHOD, ends);
    for (int round = 0; round < 2; round++) {
      final Status ended = run(call, new byte[4]);
      assertEquals(Status.Code.NOT_FOUND, ended.getCode());
      assertEquals("nothing of that name", ended.getDescription());
      final End end = ends.take();
      assertSame(ended, end.status);
      assertEquals("much", end.trailers.get(Bytes.ascii("detail")));
    }
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void anAnswerMayHaveHeadersAndTrailers(Way way) throws Exception {
    serve(
        new Served.Handler(
            served ->
                served.answer(
                    Bytes.metadata("head", "h"),
                    Bytes.digest(served.request()),
                    Status.OK,
                    Bytes.metadata("tail", "t"))));
    final UnaryCall call = connect(way).newUnaryCall(Bytes.METHOD, ends);
    assertSame(Status.OK, run(call, new byte[9]));
    assertArrayEquals(Bytes.digest(new byte[9]), ends.take().answer);
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void anAnswerMayBeCompressed(Way way) throws Exception {
    serve(
        new Served.Handler(
            served -> {
              served.call.setCompression("gzip");
              served.answer(new byte[10_000]);
            }));
    final UnaryCall call = connect(way).newUnaryCall(Bytes.METHOD, ends);
    assertSame(Status.OK, run(call, new byte[9]));
    assertArrayEquals(new byte[10_000], ends.take().answer);
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void endsThatAreNoAnswers(Way way) throws Exception {
    serve(new Served.Handler(served -> served.call.close(Status.OK, new Metadata())));
    final RingChannel channel = connect(way);
    final Status none = run(channel.newUnaryCall(Bytes.METHOD, ends), new byte[1]);
    final boolean grpc = way == Way.GRPC; // whose server cancels such a call
    assertEquals(grpc ? Status.Code.CANCELLED : Status.Code.INTERNAL, none.getCode());
    final Status unknown =
        run(channel.newUnaryCall(Bytes.method(Bytes.SERVICE + "/None"), ends), new byte[1]);
    assertEquals(Status.Code.UNIMPLEMENTED, unknown.getCode());
    assertEquals(2, ends.ends.size());
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void anAnswerThatIsTooLong(Way way) throws Exception {
    serve(Bytes.answering(request -> new byte[request[0] * 100]));
    final RingChannel channel = connect(way, builder().maxInboundMessageSize(1_000));
    final UnaryCall call = channel.newUnaryCall(Bytes.METHOD, ends);
    assertEquals(Status.Code.RESOURCE_EXHAUSTED, run(call, new byte[] {11}).getCode());
    assertEquals(Status.Code.OK, run(call, new byte[] {10}).getCode());
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void misuse(Way way) throws Exception {
    final Served.Handler handler = Served.hanging();
    serve(handler);
    final RingChannel channel = connect(way);
    final MethodDescriptor<byte[], byte[]> streaming =
        Bytes.method(Bytes.SERVICE + "/Stream", MethodType.SERVER_STREAMING);
    assertThrows(IllegalArgumentException.class, () -> channel.newUnaryCall(streaming, ends));
    final UnaryCall call = channel.newUnaryCall(Bytes.METHOD, ends);
    final byte[] request = new byte[3];
    assertThrows(
        IndexOutOfBoundsException.class, () -> call.start(request, 2, 2, UnaryCall.NO_TIMEOUT));
    call.start(request, 0, 3, UnaryCall.NO_TIMEOUT);
    assertThrows(
        IllegalStateException.class, () -> call.start(request, 0, 3, UnaryCall.NO_TIMEOUT));
    assertThrows(IllegalStateException.class, () -> call.run(request, 0, 3, UnaryCall.NO_TIMEOUT));
    handler.take().answer(new byte[2]);
    assertEquals(2, ends.take().answer.length);
    assertNull(handler.poll(50));
  }

  @Test
  void moreCallsThanTheRingHasStreamsGoOverGrpc() throws Exception {
    final Served.Handler handler = Served.hanging();
    serve(handler, builder -> builder.maxStreams(1));
    final RingChannel channel = connect(builder());
    for (int i = 0; i < 3; i++) {
      start(channel.newUnaryCall(Bytes.METHOD, ends), new byte[3]);
    }
    for (int i = 0; i < 3; i++) {
      handler.take().answer(new byte[1]);
      assertEquals(1, ends.take().answer.length);
    }
    assertEquals(1, channel.ringCalls());
    assertEquals(2, channel.grpcCalls());
  }

  /** The executor is the channel's, and is not used by a caller that waits itself. */
  @ParameterizedTest
  @EnumSource(Way.class)
  void aCallThatIsRunNeedsNoExecutor(Way way) throws Exception {
    serve(Bytes.digesting());
    final RingChannelBuilder rejecting =
        builder()
            .executor(
                task -> {
                  throw new RejectedExecutionException("full");
                });
    final RingChannel channel = connect(way, way == Way.GRPC ? builder() : rejecting);
    assertSame(Status.OK, run(channel.newUnaryCall(Bytes.METHOD, ends), new byte[40_000]));
    assertEquals(40_000, ends.take().answer.length);
  }

  @Test
  void anInterceptorSeesTheCalls() throws Exception {
    serve(Bytes.digesting());
    final Counting counting = new Counting();
    final RingChannel channel = connect(builder().requireFabric().intercept(counting));
    assertSame(Status.OK, run(channel.newUnaryCall(Bytes.METHOD, ends), new byte[1]));
    assertEquals(1, counting.calls.get());
  }
}
