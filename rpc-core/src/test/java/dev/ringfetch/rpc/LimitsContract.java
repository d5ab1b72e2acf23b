package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.grpc.CallOptions;
import io.grpc.Metadata;
import io.grpc.Status;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** What is too large ends its own call, with a status, and the next one is served. */
abstract class LimitsContract extends TransportContract {
  private static final int LIMIT = 1000;
  private static final int[] TOO_LONG = {LIMIT + 1, 40_000, 300_000, 2_000_000};

  LimitsContract(Supplier<TransportHarness> harnesses) {
    super(harnesses);
  }

  private static Metadata metadata(int length) {
    return Bytes.metadata("long", "x".repeat(length));
  }

  /** The server answers with as many bytes as the request's first four say. */
  private void startWithLengthOfRequest() throws Exception {
    start(
        new Served.Handler(
            served -> served.answer(new byte[ByteBuffer.wrap(served.request()).getInt()])));
  }

  private static byte[] request(int responseLength) {
    return ByteBuffer.allocate(Integer.BYTES).putInt(responseLength).array();
  }

  @Test
  void requestsTooLongForTheServer() throws Exception {
    harness.server(builder -> builder.maxInboundMessageSize(LIMIT));
    start(Bytes.answering(request -> new byte[1]));
    for (final int length : TOO_LONG) {
      final Status status = exchange().send(new byte[length]).await();
      assertStatus(Status.Code.RESOURCE_EXHAUSTED, "exceeds maximum size 1000", status);
      assertEquals(1, exchange().send(new byte[LIMIT]).response().length);
    }
  }

  @Test
  void requestsTooLongForTheServersDefault() throws Exception {
    start(Bytes.answering(request -> new byte[1]));
    final Status status = exchange().send(new byte[4 * 1024 * 1024 + 1]).await();
    assertStatus(Status.Code.RESOURCE_EXHAUSTED, "exceeds maximum size 4194304", status);
    assertServesOne();
  }

  @Test
  void theLengthThatIsTooLongIsNamed() throws Exception {
    start(Bytes.answering(request -> new byte[1]));
    for (final CallOptions options :
        List.of(CallOptions.DEFAULT, CallOptions.DEFAULT.withDeadlineAfter(1, TimeUnit.MINUTES))) {
      assertStatus(
          Status.Code.RESOURCE_EXHAUSTED,
          "exceeds maximum size 4194304: 5000000",
          exchange(options).send(new byte[5_000_000]).await());
    }
    assertServesOne();
  }

  private void assertServesOne() throws InterruptedException {
    assertEquals(1, exchange().send(new byte[1]).response().length);
  }

  @Test
  void aHandlerGetsNoMessageThatIsTooLong() throws Exception {
    final Served.Handler handler = Served.hanging();
    harness.server(builder -> builder.maxInboundMessageSize(LIMIT));
    start(handler);
    assertEquals(
        Status.Code.RESOURCE_EXHAUSTED, exchange().send(new byte[LIMIT + 1]).await().getCode());
    for (int i = handler.waiting(); i > 0; i--) { // it may be told of the call
      final Served served = handler.take();
      assertEquals("cancel", served.awaitEnd());
      assertNull(served.request());
    }
  }

  @Test
  void responsesTooLongForTheClient() throws Exception {
    harness.channel(builder -> builder.maxInboundMessageSize(LIMIT));
    startWithLengthOfRequest();
    for (final int length : TOO_LONG) {
      final Exchange call = exchange().send(request(length));
      assertStatus(Status.Code.RESOURCE_EXHAUSTED, "exceeds maximum size 1000", call.await());
      assertFalse(call.events().contains("message"));
      assertEquals(LIMIT, exchange().send(request(LIMIT)).response().length);
    }
  }

  @Test
  void theLimitOfACallCountsBeforeTheChannels() throws Exception {
    harness.channel(builder -> builder.maxInboundMessageSize(LIMIT));
    startWithLengthOfRequest();
    final CallOptions less = CallOptions.DEFAULT.withMaxInboundMessageSize(100);
    assertStatus(
        Status.Code.RESOURCE_EXHAUSTED,
        "exceeds maximum size 100",
        exchange(less).send(request(101)).await());
    assertEquals(100, exchange(less).send(request(100)).response().length);
    final CallOptions more = CallOptions.DEFAULT.withMaxInboundMessageSize(5_000_000);
    assertEquals(4_500_000, exchange(more).send(request(4_500_000)).response().length);
  }

  @Test
  void requestsTooLongToBeSent() throws Exception {
    start(Bytes.answering(request -> new byte[1]));
    final CallOptions options = CallOptions.DEFAULT.withMaxOutboundMessageSize(LIMIT);
    for (final int length : TOO_LONG) {
      final Exchange call = exchange(options).start();
      call.call().request(2);
      call.call().sendMessage(new byte[length]);
      call.call().halfClose();
      final Status status = call.await();
      assertEquals(Status.Code.CANCELLED, status.getCode());
      assertStatus(
          Status.Code.RESOURCE_EXHAUSTED,
          "message too large " + length + " > 1000",
          Status.fromThrowable(status.getCause()));
      assertEquals(1, exchange(options).send(new byte[LIMIT]).response().length);
    }
  }

  @Test
  void longMetadataWithinTheLimitArrives() throws Exception {
    start(
        new Served.Handler(
            served -> served.answer(metadata(7500), Bytes.EMPTY, Status.OK, metadata(7500))));
    final Exchange call = exchange().send(metadata(7500), Bytes.EMPTY);
    assertEquals(0, call.response().length);
    assertEquals(7500, call.headers().get(Bytes.ascii("long")).length());
    assertEquals(7500, call.trailers().get(Bytes.ascii("long")).length());
  }

  /** gRPC's transports have several codes for it; a ring has one. */
  @Test
  void metadataThatIsTooLongFailsItsCallOnly() throws Exception {
    start(
        new Served.Handler(
            served -> {
              final String where = served.headers.get(Bytes.ascii("where"));
              served.answer(
                  "headers".equals(where) ? metadata(9000) : new Metadata(),
                  Bytes.EMPTY,
                  Status.OK,
                  "trailers".equals(where) ? metadata(9000) : new Metadata());
            }));
    assertMetadataTooLong(exchange().send(metadata(9000), Bytes.EMPTY).await());
    assertEquals(0, exchange().send(Bytes.EMPTY).response().length);
    for (final String where : new String[] {"headers", "trailers"}) {
      final Exchange call = exchange().send(Bytes.metadata("where", where), Bytes.EMPTY);
      assertMetadataTooLong(call.await());
      assertEquals(0, exchange().send(Bytes.EMPTY).response().length);
    }
  }

  private void assertMetadataTooLong(Status status) {
    if (harness.fabric() == null) {
      assertNotEquals(Status.Code.OK, status.getCode());
    } else {
      assertStatus(Status.Code.RESOURCE_EXHAUSTED, "metadata exceeds maximum size 8192", status);
    }
  }

  @Test
  void theLimitOfMetadataCanBeRaised() throws Exception {
    harness.server(builder -> builder.maxInboundMetadataSize(100_000));
    harness.channel(builder -> builder.maxInboundMetadataSize(100_000));
    start(
        new Served.Handler(
            served -> served.answer(metadata(50_000), Bytes.EMPTY, Status.OK, metadata(50_000))));
    final Exchange call = exchange().send(metadata(50_000), Bytes.EMPTY);
    assertEquals(0, call.response().length);
    assertEquals(50_000, call.headers().get(Bytes.ascii("long")).length());
    assertEquals(50_000, call.trailers().get(Bytes.ascii("long")).length());
  }
}
