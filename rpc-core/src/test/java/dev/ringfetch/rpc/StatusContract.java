package dev.ringfetch.rpc;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.grpc.CallOptions;
import io.grpc.HandlerRegistry;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCalls;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** A status arrives as the server said it; failures of the server's code have gRPC's status. */
abstract class StatusContract extends TransportContract {
  private static final String UNKNOWN_TEXT = "Application error processing RPC";

  StatusContract(Supplier<TransportHarness> harnesses) {
    super(harnesses);
  }

  /** The server answers with the status that the request's headers name. */
  private void startWithStatusOfRequest() throws Exception {
    start(
        new Served.Handler(
            served -> {
              Status status = Status.fromCodeValue(served.request()[0]);
              final String description =
                  new String(served.request(), 1, served.request().length - 1, UTF_8);
              if (!description.isEmpty()) {
                status = status.withDescription(description);
              }
              served.call.close(
                  status.withCause(new IllegalStateException("secret")),
                  Bytes.metadata("t", "" + served.request()[0]));
            }));
  }

  private static byte[] request(Status.Code code, String description) {
    final byte[] text = description.getBytes(UTF_8);
    final byte[] request = new byte[1 + text.length];
    request[0] = (byte) code.value();
    System.arraycopy(text, 0, request, 1, text.length);
    return request;
  }

  @Test
  void everyCodeArrives() throws Exception {
    startWithStatusOfRequest();
    for (final Status.Code code : Status.Code.values()) {
      if (code == Status.Code.OK) {
        continue;
      }
      for (final String description : List.of("", "what " + code)) {
        final Exchange call = exchange().send(request(code, description));
        final Status status = call.await();
        assertEquals(code, status.getCode());
        assertEquals(description.isEmpty() ? null : description, status.getDescription());
        assertNull(status.getCause(), "a cause does not travel");
        assertEquals("" + code.value(), call.trailers().get(Bytes.ascii("t")));
        assertEquals(List.of("close"), call.events());
      }
    }
  }

  @Test
  void everyTextArrives() throws Exception {
    startWithStatusOfRequest();
    final List<String> texts =
        List.of(
            " ",
            "\u00e4\u00f6\u00fc \u2713 \ud83d\ude80",
            "tab\tnewline\r\nnull\u0000bell\u0007 %41 % %% \"quoted\"",
            "x".repeat(2000),
            "y".repeat(6000),
            "\ud83d\ude80".repeat(300));
    for (final String text : texts) {
      final Status status = exchange().send(request(Status.Code.ABORTED, text)).await();
      assertEquals(Status.Code.ABORTED, status.getCode());
      assertEquals(text, status.getDescription());
    }
  }

  @Test
  void blockingStubsThrowStatusAndTrailers() throws Exception {
    startWithStatusOfRequest();
    final StatusRuntimeException thrown =
        assertThrows(
            StatusRuntimeException.class,
            () -> blockingCall(request(Status.Code.FAILED_PRECONDITION, "not yet")));
    assertStatus(Status.Code.FAILED_PRECONDITION, "not yet", thrown.getStatus());
    assertEquals("9", thrown.getTrailers().get(Bytes.ascii("t")));
  }

  @Test
  void anUnknownMethodIsUnimplemented() throws Exception {
    start(Bytes.digesting());
    for (final String name : List.of(Bytes.SERVICE + "/Nothing", "no.Service/Call", "a/b")) {
      final Exchange call =
          new Exchange(harness.channel(), Bytes.method(name), CallOptions.DEFAULT);
      assertStatus(
          Status.Code.UNIMPLEMENTED, "Method not found: " + name, call.send(new byte[3]).await());
      assertEquals(List.of("close"), call.events());
    }
    assertServes();
  }

  @Test
  void aRegistryThatThrowsEndsItsCall() throws Exception {
    harness.server(
        builder ->
            builder.fallbackHandlerRegistry(
                new HandlerRegistry() {
                  @Override
                  public ServerMethodDefinition<?, ?> lookupMethod(String name, String authority) {
                    throw Status.ABORTED.withDescription("not today").asRuntimeException();
                  }
                }));
    start(Bytes.digesting());
    final Exchange call =
        new Exchange(harness.channel(), Bytes.method("late.Service/Call"), CallOptions.DEFAULT);
    assertStatus(Status.Code.ABORTED, "not today", call.send(new byte[3]).await());
    assertServes();
  }

  @Test
  void aFallbackRegistryServesWhatIsNotRegistered() throws Exception {
    final MethodDescriptor<byte[], byte[]> late = Bytes.method("late.Service/Call");
    harness.server(
        builder ->
            builder.fallbackHandlerRegistry(
                new HandlerRegistry() {
                  @Override
                  public ServerMethodDefinition<?, ?> lookupMethod(String name, String authority) {
                    return name.equals(late.getFullMethodName())
                        ? ServerMethodDefinition.create(late, Bytes.digesting())
                        : null;
                  }
                }));
    start(Bytes.digesting());
    final byte[] response =
        new Exchange(harness.channel(), late, CallOptions.DEFAULT).send(new byte[33]).response();
    assertEquals(33, response.length);
    final Exchange other =
        new Exchange(harness.channel(), Bytes.method("late.Service/Other"), CallOptions.DEFAULT);
    assertStatus(
        Status.Code.UNIMPLEMENTED,
        "Method not found: late.Service/Other",
        other.send(new byte[3]).await());
    assertServes();
  }

  private Served assertThrownInHandlerIsUnknown(Throwable thrown) throws Exception {
    final Served.Handler handler =
        new Served.Handler(
            served -> {
              StatusContract.<RuntimeException>sneak(thrown);
            });
    start(handler);
    final Exchange call = exchange().send(new byte[3]);
    assertStatus(Status.Code.UNKNOWN, UNKNOWN_TEXT, call.await());
    assertNull(call.trailers().get(Bytes.ascii("t")));
    assertEquals(List.of("close"), call.events());
    return handler.take();
  }

  private static void assertEnds(Served served) throws Exception {
    served.awaitEnd();
    served.awaitCancelledContext();
  }

  @SuppressWarnings("unchecked")
  private static <T extends Throwable> void sneak(Throwable thrown) throws T {
    throw (T) thrown;
  }

  @Test
  void aHandlerThatThrowsIsUnknown() throws Exception {
    assertEnds(assertThrownInHandlerIsUnknown(new IllegalArgumentException("secret")));
  }

  @Test
  void aHandlerThatThrowsAStatusIsUnknown() throws Exception {
    assertEnds(
        assertThrownInHandlerIsUnknown(
            Status.NOT_FOUND.withDescription("x").asRuntimeException(Bytes.metadata("t", "1"))));
  }

  @Test
  void aHandlerThatThrowsAnErrorIsUnknown() throws Exception {
    // What ends the listener is not awaited: gRPC's executor stops at an Error, and leaves what was
    // queued behind it there.
    assertThrownInHandlerIsUnknown(new AssertionError("secret"));
  }

  @Test
  void aHandlerThatRunsOutOfMemoryIsUnknown() throws Exception {
    assertEndsItsOwnCallOnly(
        served -> {
          throw new OutOfMemoryError("secret");
        });
  }

  @Test
  void aHandlerThatRunsOutOfStackIsUnknown() throws Exception {
    assertEndsItsOwnCallOnly(served -> served.answer(new byte[depth(served, 0)]));
  }

  private void assertEndsItsOwnCallOnly(Consumer<Served> failing) throws Exception {
    start(
        new Served.Handler(
            served -> {
              if (served.request().length == 3) {
                failing.accept(served);
              }
              served.answer(Bytes.digest(served.request()));
            }));
    for (int i = 0; i < 3; i++) {
      assertStatus(Status.Code.UNKNOWN, UNKNOWN_TEXT, exchange().send(new byte[3]).await());
      assertServes();
    }
  }

  private static int depth(Served served, int above) {
    return served.request().length == 0 ? above : 1 + depth(served, above + 1);
  }

  @Test
  void aThrowAfterHeadersDropsNothingThatWasSent() throws Exception {
    start(
        new Served.Handler(
            served -> {
              served.call.sendHeaders(Bytes.metadata("h", "1"));
              throw new IllegalStateException("secret");
            }));
    final Exchange call = exchange().send(new byte[3]);
    assertStatus(Status.Code.UNKNOWN, UNKNOWN_TEXT, call.await());
    assertEquals("1", call.headers().get(Bytes.ascii("h")));
    assertEquals(List.of("headers", "close"), call.events());
  }

  @Test
  void aThrowAfterCloseIsTooLate() throws Exception {
    start(
        new Served.Handler(
            served -> {
              served.answer(new byte[4]);
              throw new IllegalStateException("too late");
            }));
    assertEquals(4, exchange().send(new byte[3]).response().length);
  }

  private Exchange callToHandlerThatThrowsAtStart(RuntimeException thrown) throws Exception {
    start(
        new ServerCallHandler<>() {
          @Override
          public ServerCall.Listener<byte[]> startCall(
              ServerCall<byte[], byte[]> call, Metadata headers) {
            throw thrown;
          }
        });
    return exchange().send(new byte[3]);
  }

  @Test
  void aThrowAtTheStartOfACallIsUnknown() throws Exception {
    final Exchange call = callToHandlerThatThrowsAtStart(new IllegalStateException("secret"));
    assertEquals(Status.UNKNOWN.getCode(), call.await().getCode());
    assertNull(call.await().getDescription());
  }

  @Test
  void aStatusThatIsThrownAtTheStartOfACallArrives() throws Exception {
    final Exchange call =
        callToHandlerThatThrowsAtStart(
            Status.PERMISSION_DENIED.withDescription("go").asRuntimeException());
    assertStatus(Status.Code.PERMISSION_DENIED, "go", call.await());
    assertEquals(List.of("close"), call.events());
  }

  @Test
  void onErrorKeepsStatusAndTrailers() throws Exception {
    start(
        ServerCalls.asyncUnaryCall(
            (request, responses) ->
                responses.onError(
                    Status.OUT_OF_RANGE
                        .withDescription("far")
                        .asRuntimeException(Bytes.metadata("t", "1")))));
    final Exchange call = exchange().send(new byte[3]);
    assertStatus(Status.Code.OUT_OF_RANGE, "far", call.await());
    assertEquals("1", call.trailers().get(Bytes.ascii("t")));
  }

  @Test
  void onErrorOfAnythingElseIsUnknown() throws Exception {
    start(
        ServerCalls.asyncUnaryCall(
            (request, responses) -> responses.onError(new IllegalStateException("secret"))));
    final Status status = exchange().send(new byte[3]).await();
    assertEquals(Status.Code.UNKNOWN, status.getCode());
    assertNull(status.getDescription());
  }
}
