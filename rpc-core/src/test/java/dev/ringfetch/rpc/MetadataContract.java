package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.grpc.Metadata;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Metadata arrives both ways as it was sent, and not as it may not be sent. */
abstract class MetadataContract extends TransportContract {
  private static final Metadata.Key<String> TEXT = Bytes.ascii("text");
  private static final Metadata.Key<byte[]> BINARY = Bytes.binary("data-bin");

  MetadataContract(Supplier<TransportHarness> harnesses) {
    super(harnesses);
  }

  private static Metadata copy(Metadata metadata) {
    final Metadata copy = new Metadata();
    copy.merge(metadata);
    return copy;
  }

  /** Headers and trailers of the answer to a call with these headers, as the server gave them. */
  private Exchange answeredWith(Metadata headers, Metadata responseHeaders, Metadata trailers)
      throws Exception {
    start(
        new Served.Handler(
            served -> served.answer(responseHeaders, Bytes.EMPTY, Status.OK, trailers)));
    final Exchange call = exchange().send(headers, Bytes.EMPTY);
    call.response();
    return call;
  }

  private Exchange echoed(Metadata headers) throws Exception {
    start(
        new Served.Handler(
            served ->
                served.answer(copy(served.headers), Bytes.EMPTY, Status.OK, copy(served.headers))));
    final Exchange call = exchange().send(headers, Bytes.EMPTY);
    call.response();
    return call;
  }

  private static <T> List<T> all(Metadata metadata, Metadata.Key<T> key) {
    final List<T> all = new ArrayList<>();
    final Iterable<T> values = metadata.getAll(key);
    if (values != null) {
      values.forEach(all::add);
    }
    return all;
  }

  @Test
  void textArrivesBothWaysInOrder() throws Exception {
    final List<String> values = List.of("b", "a", "b", "", "with, comma", "~!@#$%^&*() \"\\");
    final Metadata headers = new Metadata();
    values.forEach(value -> headers.put(TEXT, value));
    headers.put(Bytes.ascii("other"), "1");
    final Exchange call = echoed(headers);
    assertEquals(values, all(call.headers(), TEXT));
    assertEquals(values, all(call.trailers(), TEXT));
    assertEquals("1", call.trailers().get(Bytes.ascii("other")));
  }

  @Test
  void bytesArriveBothWaysInOrder() throws Exception {
    final byte[] every = new byte[256];
    for (int i = 0; i < every.length; i++) {
      every[i] = (byte) i;
    }
    final byte[] random = new byte[777];
    new Random(1).nextBytes(random);
    final List<byte[]> values = List.of(every, Bytes.EMPTY, random, every);
    final Metadata headers = new Metadata();
    values.forEach(value -> headers.put(BINARY, value));
    final Exchange call = echoed(headers);
    assertArrayEquals(values.toArray(), all(call.headers(), BINARY).toArray());
    assertArrayEquals(values.toArray(), all(call.trailers(), BINARY).toArray());
  }

  @Test
  void namesAreLowerCase() throws Exception {
    final Exchange call = echoed(Bytes.metadata("MiXed-Case_1.x", "v"));
    assertEquals("v", call.headers().get(Bytes.ascii("mixed-case_1.X")));
  }

  /** A key of text turns other characters into question marks itself. */
  private static Metadata withBadText() {
    final Metadata metadata = new Metadata();
    metadata.put(TEXT, "plain");
    metadata.put(Bytes.ascii("unicode"), "\u00fc\u2713");
    metadata.put(Bytes.ascii("control"), "a\nb");
    metadata.put(Bytes.ascii("delete"), "a\u007fb");
    metadata.put(TEXT, "more");
    return metadata;
  }

  private static void assertGoodText(Metadata metadata) {
    assertEquals(List.of("plain", "more"), all(metadata, TEXT));
    assertEquals("??", metadata.get(Bytes.ascii("unicode")));
    assertNull(metadata.get(Bytes.ascii("control")));
    assertNull(metadata.get(Bytes.ascii("delete")));
  }

  @Test
  void textThatIsNotPrintableIsDroppedFromRequests() throws Exception {
    final Served.Handler handler = Served.digesting();
    start(handler);
    exchange().send(withBadText(), Bytes.EMPTY).response();
    assertGoodText(handler.take().headers);
  }

  @Test
  void textThatIsNotPrintableIsDroppedFromAnswers() throws Exception {
    final Exchange call = answeredWith(new Metadata(), withBadText(), withBadText());
    assertGoodText(call.headers());
    assertGoodText(call.trailers());
  }

  @Test
  void headersAndTrailersAreApart() throws Exception {
    final Exchange call =
        answeredWith(new Metadata(), Bytes.metadata("h", "1"), Bytes.metadata("t", "2"));
    assertEquals("1", call.headers().get(Bytes.ascii("h")));
    assertNull(call.headers().get(Bytes.ascii("t")));
    assertEquals("2", call.trailers().get(Bytes.ascii("t")));
    assertNull(call.trailers().get(Bytes.ascii("h")));
  }

  @Test
  void whatWasNotSentIsNotThere() throws Exception {
    final Exchange call = answeredWith(new Metadata(), new Metadata(), new Metadata());
    assertNotNull(call.headers());
    assertNotNull(call.trailers());
    assertNull(call.headers().get(TEXT));
    assertNull(call.trailers().get(TEXT));
    assertNull(call.trailers().get(Bytes.ascii("grpc-status")), "the transport's own");
    assertNull(call.trailers().get(Bytes.ascii("grpc-message")), "the transport's own");
  }

  @Test
  void theStatusIsNotTheApplicationsToName() throws Exception {
    final Metadata reserved = Bytes.metadata("grpc-status", "5");
    reserved.put(Bytes.ascii("grpc-message"), "another");
    reserved.put(TEXT, "kept");
    final Exchange call = answeredWith(new Metadata(), copy(reserved), copy(reserved));
    for (final Metadata received : List.of(call.headers(), call.trailers())) {
      assertEquals("kept", received.get(TEXT));
      assertNull(received.get(Bytes.ascii("grpc-status")));
      assertNull(received.get(Bytes.ascii("grpc-message")));
    }
  }

  @Test
  void earlyCloseWithoutHeadersIsTrailersOnly() throws Exception {
    start(
        new Served.Handler(
            served -> served.call.close(Status.NOT_FOUND, Bytes.metadata("t", "2"))));
    final Exchange call = exchange().send(new byte[10]);
    assertEquals(Status.Code.NOT_FOUND, call.await().getCode());
    assertEquals(List.of("close"), call.events());
    assertEquals("2", call.trailers().get(Bytes.ascii("t")));
  }

  @Test
  void earlyCloseWithHeadersBringsThem() throws Exception {
    start(
        new Served.Handler(
            served -> {
              served.call.sendHeaders(Bytes.metadata("h", "1"));
              served.call.close(Status.NOT_FOUND, Bytes.metadata("t", "2"));
            }));
    final Exchange call = exchange().send(new byte[10]);
    assertEquals(Status.Code.NOT_FOUND, call.await().getCode());
    assertEquals(List.of("headers", "close"), call.events());
    assertEquals("1", call.headers().get(Bytes.ascii("h")));
    assertEquals("2", call.trailers().get(Bytes.ascii("t")));
  }

  @Test
  void closeWithMessageAndErrorDeliversBoth() throws Exception {
    start(
        new Served.Handler(
            served ->
                served.answer(
                    new Metadata(), new byte[7], Status.DATA_LOSS, Bytes.metadata("t", "2"))));
    final Exchange call = exchange().send(new byte[10]);
    assertEquals(Status.Code.DATA_LOSS, call.await().getCode());
    assertEquals(List.of("headers", "message", "close"), call.events());
    assertEquals("2", call.trailers().get(Bytes.ascii("t")));
  }

  @Test
  void theMetadataOfACallIsItsOwn() throws Exception {
    final Served.Handler handler =
        new Served.Handler(
            served -> {
              served.headers.put(TEXT, "server");
              served.answer(Bytes.EMPTY);
            });
    start(handler);
    final Metadata headers = Bytes.metadata("text", "client");
    exchange().send(headers, Bytes.EMPTY).response();
    exchange().send(copy(headers), Bytes.EMPTY).response();
    assertEquals(List.of("client"), all(headers, TEXT));
    for (int i = 0; i < 2; i++) {
      assertEquals(List.of("client", "server"), all(handler.take().headers, TEXT));
    }
  }

  @Test
  void manyEntriesArrive() throws Exception {
    final Metadata headers = new Metadata();
    for (int i = 0; i < 100; i++) {
      headers.put(Bytes.ascii("key-" + i), "value-" + i);
    }
    final Exchange call = echoed(headers);
    for (int i = 0; i < 100; i++) {
      final Metadata.Key<String> key = Bytes.ascii("key-" + i);
      assertEquals(Arrays.asList("value-" + i), all(call.headers(), key));
      assertEquals(Arrays.asList("value-" + i), all(call.trailers(), key));
    }
  }
}
