package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** The rules of calls: order of the callbacks, and misuse by callers. */
abstract class CallRulesContract extends TransportContract {
  CallRulesContract(Supplier<TransportHarness> harnesses) {
    super(harnesses);
  }

  private static void assertMisuse(Executable action) {
    assertThrows(IllegalStateException.class, action);
  }

  @Test
  void bothListenersAreToldInOrderAndOnce() throws Exception {
    final Served.Handler handler = Served.digesting();
    start(handler);
    for (int i = 0; i < 50; i++) {
      final Exchange call = exchange().send(new byte[i]);
      assertEquals(i, call.response().length);
      final Served served = handler.take();
      assertEquals("complete", served.awaitEnd());
      assertEquals(List.of("message", "halfClose", "complete"), served.events());
      assertFalse(served.call.isCancelled());
    }
  }

  @Test
  void theClientGetsNoMessageThatItHasNotAskedFor() throws Exception {
    final Served.Handler handler = Served.digesting();
    start(handler);
    final Exchange call = exchange().start();
    call.call().sendMessage(new byte[9]);
    call.call().halfClose();
    call.awaitHeaders();
    assertEquals("complete", handler.take().awaitEnd());
    assertServes(); // what could be told has been told by now, most likely
    assertEquals(List.of("headers"), call.events());
    call.call().request(1);
    assertEquals(9, call.response().length);
  }

  @Test
  void aCloseWithoutAMessageNeedsNoRequest() throws Exception {
    start(new Served.Handler(served -> served.call.close(Status.ABORTED, new Metadata())));
    final Exchange call = exchange().start();
    call.call().sendMessage(new byte[9]);
    call.call().halfClose();
    assertEquals(Status.Code.ABORTED, call.await().getCode());
  }

  @Test
  void theServerGetsNoMessageThatItHasNotAskedFor() throws Exception {
    final Served.Handler handler =
        new Served.Handler(0, served -> served.answer(Bytes.digest(served.request())));
    start(handler);
    final Exchange call = exchange().send(new byte[9]);
    final Served served = handler.take();
    assertEquals(0, served.events().size());
    served.call.request(1);
    assertEquals(9, call.response().length);
    assertEquals("complete", served.awaitEnd());
    assertEquals(List.of("message", "halfClose", "complete"), served.events());
  }

  @Test
  void theServerMayAnswerWithoutReading() throws Exception {
    final Served.Handler handler = new Served.Handler(0, served -> {});
    start(handler);
    final Exchange call = exchange().send(new byte[9]);
    final Served served = handler.take();
    served.answer(new byte[4]);
    assertEquals(4, call.response().length);
    assertEquals("complete", served.awaitEnd());
    assertFalse(served.events().contains("message"), served.events()::toString);
  }

  @Test
  void negativeRequestsAreRefused() throws Exception {
    final Served.Handler handler = Served.hanging();
    start(handler);
    final Exchange call = exchange().send(new byte[1]);
    assertThrows(IllegalArgumentException.class, () -> call.call().request(-1));
    handler.take().answer(new byte[2]);
    assertEquals(2, call.response().length);
  }

  @Test
  void aClientCallIsStartedOnce() throws Exception {
    start(Bytes.digesting());
    final Exchange call = exchange().start();
    assertMisuse(() -> call.call().start(call, new Metadata()));
    call.call().request(2);
    call.call().sendMessage(new byte[3]);
    call.call().halfClose();
    assertEquals(3, call.response().length);
    assertMisuse(() -> call.call().start(call, new Metadata()));
  }

  @Test
  void nothingIsSentBeforeStart() throws Exception {
    start(Bytes.digesting());
    final ClientCall<byte[], byte[]> call = exchange().call();
    assertMisuse(() -> call.sendMessage(new byte[1]));
    assertMisuse(call::halfClose);
    assertMisuse(() -> call.request(1));
    assertServes();
  }

  @Test
  void nothingIsSentAfterHalfClose() throws Exception {
    final Served.Handler handler = Served.hanging();
    start(handler);
    final Exchange call = exchange().send(new byte[1]);
    assertMisuse(() -> call.call().sendMessage(new byte[1]));
    assertMisuse(call.call()::halfClose);
    handler.take().answer(new byte[2]);
    assertEquals(2, call.response().length);
  }

  @Test
  void nothingIsSentAfterCancel() throws Exception {
    start(Bytes.digesting());
    final Exchange call = exchange().start();
    call.call().cancel("enough", null);
    assertMisuse(() -> call.call().sendMessage(new byte[1]));
    assertMisuse(call.call()::halfClose);
    call.call().request(1);
    assertStatus(Status.Code.CANCELLED, "enough", call.await());
    assertServes();
  }

  @Test
  void aSecondRequestMessageIsRefused() throws Exception {
    start(Bytes.digesting());
    final Exchange call = exchange().start();
    call.call().request(2);
    call.call().sendMessage(new byte[1]);
    call.call().sendMessage(new byte[1]);
    call.call().halfClose();
    assertBrokenByServer(Status.Code.INTERNAL, "Too many requests", call.await());
    assertTrue(exchange().send(new byte[1]).await().isOk(), "another call");
  }

  @Test
  void aServiceByStubsRefusesACallWithoutAMessage() throws Exception {
    start(Bytes.digesting());
    final Exchange call = exchange().start();
    call.call().request(2);
    call.call().halfClose();
    assertStatus(Status.Code.INTERNAL, "Half-closed without a request", call.await());
  }

  @Test
  void theServerClosesOnce() throws Exception {
    final Served.Handler handler =
        new Served.Handler(
            served -> {
              served.answer(new byte[6]);
              assertMisuse(() -> served.call.close(Status.ABORTED, new Metadata()));
              assertMisuse(() -> served.call.sendMessage(new byte[1]));
              assertMisuse(() -> served.call.sendHeaders(new Metadata()));
            });
    start(handler);
    assertEquals(6, exchange().send(new byte[1]).response().length);
    assertEquals("complete", handler.take().awaitEnd());
  }

  @Test
  void theServerSendsHeadersOnceAndFirst() throws Exception {
    start(
        new Served.Handler(
            served -> {
              assertMisuse(() -> served.call.sendMessage(new byte[1]));
              served.call.sendHeaders(new Metadata());
              assertMisuse(() -> served.call.sendHeaders(new Metadata()));
              served.call.sendMessage(new byte[6]);
              served.call.close(Status.OK, new Metadata());
            }));
    assertEquals(6, exchange().send(new byte[1]).response().length);
  }

  @Test
  void twoResponsesAreTooMany() throws Exception {
    final Served.Handler handler =
        new Served.Handler(
            served -> {
              served.call.sendHeaders(new Metadata());
              served.call.sendMessage(new byte[6]);
              served.call.sendMessage(new byte[6]);
            });
    start(handler);
    assertBrokenByServer(
        Status.Code.INTERNAL, "Too many responses", exchange().send(new byte[1]).await());
    assertEnds(handler);
  }

  @Test
  void twoResponsesOfAStubAreTooMany() throws Exception {
    start(
        ServerCalls.asyncUnaryCall(
            (request, responses) -> {
              responses.onNext(request);
              responses.onNext(request);
            }));
    assertBrokenByServer(
        Status.Code.INTERNAL, "Too many responses", exchange().send(new byte[1]).await());
  }

  @Test
  void noResponseIsTooFew() throws Exception {
    final Served.Handler handler =
        new Served.Handler(
            served -> {
              served.call.sendHeaders(new Metadata());
              served.call.close(Status.OK, new Metadata());
            });
    start(handler);
    assertBrokenByServer(
        Status.Code.INTERNAL, "Completed without a response", exchange().send(new byte[1]).await());
    assertEnds(handler);
  }

  private StatusRuntimeException answersToUnaryCaller(int responses) throws Exception {
    harness.server(
        builder ->
            builder.addService(
                ServerServiceDefinition.builder("other.Service")
                    .addMethod(
                        Bytes.method("other.Service/Call", MethodType.SERVER_STREAMING),
                        ServerCalls.asyncServerStreamingCall(
                            (request, observer) -> {
                              for (int i = 0; i < responses; i++) {
                                observer.onNext(request);
                              }
                              observer.onCompleted();
                            }))
                    .build()));
    start(Bytes.digesting());
    final StatusRuntimeException thrown =
        assertThrows(
            StatusRuntimeException.class,
            () ->
                ClientCalls.blockingUnaryCall(
                    harness.channel(),
                    Bytes.method("other.Service/Call"),
                    CallOptions.DEFAULT,
                    new byte[1]));
    assertServes();
    return thrown;
  }

  @Test
  void aUnaryStubWantsAResponse() throws Exception {
    assertStatus(
        Status.Code.INTERNAL,
        "No value received for unary call",
        answersToUnaryCaller(0).getStatus());
  }

  @Test
  void aUnaryStubWantsOneResponse() throws Exception {
    Status status = answersToUnaryCaller(2).getStatus();
    if (status.getCode() == Status.Code.CANCELLED) { // by the stub, over gRPC
      status = Status.fromThrowable(status.getCause());
    }
    assertStatus(Status.Code.INTERNAL, "More than one value received for unary call", status);
  }

  private static void assertEnds(Served.Handler handler) throws InterruptedException {
    handler.take().awaitEnd();
  }

  /**
   * When headers arrive is the transport's business: gRPC sends them with the message unless
   * something else of the connection flushes them earlier. That they come first is owed.
   */
  @Test
  void headersComeBeforeTheMessage() throws Exception {
    final Served.Handler handler =
        new Served.Handler(served -> served.call.sendHeaders(Bytes.metadata("h", "1")));
    start(handler);
    final Exchange call = exchange().send(new byte[1]);
    final Served served = handler.take();
    served.awaitHalfClose();
    assertFalse(call.events().contains("message") || call.isClosed());
    served.call.sendMessage(new byte[3]);
    served.call.close(Status.OK, new Metadata());
    assertEquals(3, call.response().length);
    assertEquals("1", call.headers().get(Bytes.ascii("h")));
  }

  @Test
  void aCallIsReadyUntilItIsHalfClosed() throws Exception {
    final Served.Handler handler = Served.hanging();
    start(handler);
    final Exchange call = exchange();
    call.send(new byte[1]);
    assertFalse(call.call().isReady());
    final Served served = handler.take();
    served.awaitHalfClose();
    assertTrue(served.call.isReady());
    served.answer(new byte[2]);
    assertFalse(served.call.isReady());
    assertEquals(2, call.response().length);
  }

  @Test
  void theServerAnswersFromAnotherThread() throws Exception {
    final Served.Handler handler = Served.hanging();
    start(handler);
    final Exchange first = exchange(CallOptions.DEFAULT).send(new byte[1]);
    final Exchange second = exchange(CallOptions.DEFAULT).send(new byte[2]);
    final Served one = handler.take();
    final Served two = handler.take();
    one.awaitHalfClose();
    two.awaitHalfClose();
    two.answer(Bytes.digest(two.request())); // out of order
    one.answer(Bytes.digest(one.request()));
    assertArrayEquals(Bytes.digest(new byte[1]), first.response());
    assertArrayEquals(Bytes.digest(new byte[2]), second.response());
  }
}
