package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.grpc.CallOptions;
import io.grpc.Codec;
import io.grpc.CompressorRegistry;
import io.grpc.DecompressorRegistry;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Messages are compressed where both sides agree on it, and never where nobody asks for it. */
abstract class EncodingContract extends TransportContract {
  private static final MethodDescriptor<byte[], byte[]> CHAT =
      Bytes.method(Bytes.SERVICE + "/Chat", MethodType.BIDI_STREAMING);
  private static final Metadata.Key<String> ENCODING = Bytes.ascii("grpc-encoding");
  private static final CallOptions GZIP = CallOptions.DEFAULT.withCompression("gzip");
  private static final CallOptions LIMITED = GZIP.withMaxOutboundMessageSize(1000);
  private static final CallOptions INVERSE =
      CallOptions.DEFAULT.withCompression(CountingCodec.NAME);
  private static final int[] LENGTHS = {0, 1, 100, 5_000, 100_000, 1_000_000};

  private final CountingCodec client = new CountingCodec();
  private final CountingCodec server = new CountingCodec();

  EncodingContract(Supplier<TransportHarness> harnesses) {
    super(harnesses);
  }

  private static CompressorRegistry compressors(CountingCodec codec) {
    final CompressorRegistry registry = CompressorRegistry.newEmptyInstance();
    registry.register(Codec.Identity.NONE);
    registry.register(codec);
    return registry;
  }

  private static DecompressorRegistry decompressors(CountingCodec codec) {
    return DecompressorRegistry.emptyInstance().with(Codec.Identity.NONE, false).with(codec, true);
  }

  /** Both sides have the codec, for both directions. */
  private void haveCodec() {
    harness.channel(
        builder ->
            builder
                .compressorRegistry(compressors(client))
                .decompressorRegistry(decompressors(client)));
    harness.server(
        builder ->
            builder
                .compressorRegistry(compressors(server))
                .decompressorRegistry(decompressors(server)));
  }

  private void assertCounts(int requests, int responses) {
    assertEquals(requests, client.compressed.get(), "requests that were compressed");
    assertEquals(requests, server.decompressed.get(), "requests that were decompressed");
    assertEquals(responses, server.compressed.get(), "responses that were compressed");
    assertEquals(responses, client.decompressed.get(), "responses that were decompressed");
  }

  private static void answer(Served served, String encoding) {
    if (encoding != null) {
      served.call.setCompression(encoding);
    }
    served.answer(Bytes.digest(served.request()));
  }

  private void assertDigest(CallOptions options, int length) throws InterruptedException {
    final byte[] request = Bytes.random(length, length);
    assertArrayEquals(Bytes.digest(request), exchange(options).send(request).response());
  }

  @Test
  void requestsOfEveryLengthAreCompressed() throws Exception {
    final Served.Handler handler = new Served.Handler(served -> answer(served, null));
    start(handler);
    for (final int length : LENGTHS) {
      assertDigest(GZIP, length);
      assertEquals("gzip", handler.take().headers.get(ENCODING));
    }
  }

  @Test
  void responsesOfEveryLengthAreCompressed() throws Exception {
    start(new Served.Handler(served -> answer(served, "gzip")));
    for (final int length : LENGTHS) {
      final byte[] request = new byte[length];
      final Exchange call = exchange().send(request);
      assertArrayEquals(Bytes.digest(request), call.response());
      assertEquals("gzip", call.headers().get(ENCODING));
    }
  }

  @Test
  void nothingIsCompressedUnlessAsked() throws Exception {
    haveCodec();
    final Served.Handler handler = new Served.Handler(served -> answer(served, null));
    start(handler);
    assertDigest(CallOptions.DEFAULT, 100);
    assertDigest(CallOptions.DEFAULT.withCompression("identity"), 100);
    assertCounts(0, 0);
    assertNull(handler.take().headers.get(ENCODING));
    assertNull(handler.take().headers.get(ENCODING));
  }

  @Test
  void everyMessageOfAStreamIsCompressedUnlessSwitchedOff() throws Exception {
    haveCodec();
    harness.handle(
        CHAT,
        ServerCalls.asyncBidiStreamingCall(
            responses -> {
              final ServerCallStreamObserver<byte[]> answers =
                  (ServerCallStreamObserver<byte[]>) responses;
              answers.setCompression(CountingCodec.NAME);
              return new StreamingContract.Observed() {
                @Override
                public void onNext(byte[] message) {
                  answers.setMessageCompression(message.length % 2 == 0);
                  answers.onNext(Bytes.digest(message));
                }

                @Override
                public void onCompleted() {
                  answers.onCompleted();
                }
              };
            }));
    harness.start();
    final Exchange call = new Exchange(harness.channel(), CHAT, INVERSE).start();
    call.call().request(100);
    final List<byte[]> expected = new ArrayList<>();
    for (int length = 0; length < 9; length++) {
      final byte[] message = Bytes.random(length, length);
      call.call().setMessageCompression(length % 3 != 0);
      call.call().sendMessage(message);
      expected.add(Bytes.digest(message));
    }
    call.call().halfClose();
    final Status status = call.await();
    assertEquals(Status.Code.OK, status.getCode(), status::toString);
    for (int i = 0; i < expected.size(); i++) {
      assertArrayEquals(expected.get(i), call.messages().get(i), "message " + i);
    }
    assertCounts(6, 4); // 1 2 4 5 7 8, and 2 4 6 8: an empty message is not worth it
  }

  @Test
  void aUnaryMessageCanBeSentAsItIs() throws Exception {
    haveCodec();
    start(
        new Served.Handler(
            served -> {
              served.call.setCompression(CountingCodec.NAME);
              served.call.setMessageCompression(false);
              served.answer(Bytes.digest(served.request()));
            }));
    final Exchange call = exchange(INVERSE).start();
    call.call().request(2);
    call.call().setMessageCompression(false);
    call.call().sendMessage(new byte[100]);
    call.call().halfClose();
    assertArrayEquals(Bytes.digest(new byte[100]), call.response());
    assertEquals(CountingCodec.NAME, call.headers().get(ENCODING));
    assertCounts(0, 0);
    assertDigest(INVERSE, 100);
    assertCounts(1, 0);
  }

  @Test
  void blockingStubsCompress() throws Exception {
    haveCodec();
    start(new Served.Handler(served -> answer(served, CountingCodec.NAME)));
    final byte[] request = Bytes.random(1, 300);
    assertArrayEquals(
        Bytes.digest(request),
        ClientCalls.blockingUnaryCall(harness.channel(), Bytes.METHOD, INVERSE, request));
    assertCounts(1, 1);
  }

  @Test
  void aCompressorThatTheClientDoesNotHaveEndsTheCall() throws Exception {
    final Served.Handler handler = Served.digesting();
    harness.handle(CHAT, handler);
    start(handler);
    for (final MethodDescriptor<byte[], byte[]> method : List.of(Bytes.METHOD, CHAT)) {
      final Exchange call =
          new Exchange(harness.channel(), method, CallOptions.DEFAULT.withCompression("none"));
      call.send(new byte[1]);
      assertStatus(Status.Code.INTERNAL, "Unable to find compressor by name none", call.await());
    }
    assertEquals(0, handler.waiting());
    assertServes();
  }

  @Test
  void anEncodingThatTheServerDoesNotHaveEndsTheCall() throws Exception {
    harness.channel(builder -> builder.compressorRegistry(compressors(client)));
    final Served.Handler handler = Served.digesting();
    harness.handle(CHAT, handler);
    start(handler);
    for (final MethodDescriptor<byte[], byte[]> method : List.of(Bytes.METHOD, CHAT)) {
      final Exchange call = new Exchange(harness.channel(), method, INVERSE).send(new byte[1]);
      assertStatus(Status.Code.UNIMPLEMENTED, "Can't find decompressor for inverse", call.await());
    }
    assertEquals(0, handler.waiting());
    assertServes();
  }

  @Test
  void theServerSendsWhatTheClientCannotReadAsItIs() throws Exception {
    harness.server(builder -> builder.compressorRegistry(compressors(server)));
    start(new Served.Handler(served -> answer(served, CountingCodec.NAME)));
    assertDigest(CallOptions.DEFAULT, 100);
    assertCounts(0, 0);
  }

  @Test
  void theServerMayNotNameACompressorThatItDoesNotHave() throws Exception {
    start(
        new Served.Handler(
            served -> {
              assertThrows(
                  IllegalArgumentException.class, () -> served.call.setCompression("none"));
              served.call.sendHeaders(new Metadata());
              assertThrows(IllegalStateException.class, () -> served.call.setCompression("gzip"));
              served.call.sendMessage(new byte[3]);
              served.call.close(Status.OK, new Metadata());
            }));
    assertEquals(3, exchange().send(new byte[1]).response().length);
  }

  @Test
  void theEncodingIsNotTheApplicationsToName() throws Exception {
    final Served.Handler handler =
        new Served.Handler(
            served ->
                served.answer(
                    Bytes.metadata("grpc-encoding", "gzip"),
                    new byte[5],
                    Status.OK,
                    new Metadata()));
    start(handler);
    final Exchange call = exchange().send(Bytes.metadata("grpc-encoding", "gzip"), new byte[4]);
    assertEquals(5, call.response().length);
    assertNull(handler.take().headers.get(ENCODING));
  }

  @Test
  void aRequestThatIsTooLongWhenItIsDecompressed() throws Exception {
    harness.server(builder -> builder.maxInboundMessageSize(1000));
    final Served.Handler handler = Served.digesting();
    start(handler);
    assertEquals(1000, exchange(GZIP).send(new byte[1000]).response().length);
    final Status status = exchange(GZIP).send(new byte[100_000]).await();
    assertEquals(Status.Code.UNKNOWN, status.getCode(), status::toString);
    assertServes();
  }

  @Test
  void aResponseThatIsTooLongWhenItIsDecompressed() throws Exception {
    harness.channel(builder -> builder.maxInboundMessageSize(1000));
    start(
        new Served.Handler(
            served -> {
              served.call.setCompression("gzip");
              served.answer(new byte[served.request().length * 1000]);
            }));
    assertEquals(1000, exchange().send(new byte[1]).response().length);
    final Status status = exchange().send(new byte[2]).await();
    assertStatus(Status.Code.CANCELLED, "Failed to read message", status);
    assertStatus(
        Status.Code.RESOURCE_EXHAUSTED,
        "Decompressed gRPC message exceeds maximum size 1000",
        Status.fromThrowable(status.getCause()));
    assertEquals(1000, exchange().send(new byte[1]).response().length);
  }

  @Test
  void theOutboundLimitIsOfTheMessageBeforeAndAfter() throws Exception {
    start(Bytes.digesting());
    assertEquals(1000, exchange(LIMITED).send(new byte[1000]).response().length);
    assertTooLong(new byte[1001], "message too large 1001 > 1000");
    assertTooLong(Bytes.random(1, 1000), "message too large 1023 > 1000");
  }

  private void assertTooLong(byte[] message, String description) throws InterruptedException {
    final Exchange call = exchange(LIMITED).start();
    call.call().request(2);
    call.call().sendMessage(message);
    call.call().halfClose();
    assertStatus(
        Status.Code.RESOURCE_EXHAUSTED, description, Status.fromThrowable(call.await().getCause()));
  }

  @Test
  void theServerSeesWhatTheClientAccepts() throws Exception {
    haveCodec();
    final Served.Handler handler = new Served.Handler(served -> answer(served, null));
    start(handler);
    assertDigest(CallOptions.DEFAULT, 1);
    assertEquals(
        CountingCodec.NAME, handler.take().headers.get(Bytes.ascii("grpc-accept-encoding")));
  }
}
