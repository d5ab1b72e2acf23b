package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.io.InputStream;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Marshallers and listeners that throw end their own call, with gRPC's status, and no other. */
abstract class UserFailureContract extends TransportContract {
  private final IllegalArgumentException fault = new IllegalArgumentException("thrown");
  private final MethodDescriptor<byte[], byte[]> badRequestStream =
      Bytes.method(Bytes.SERVICE + "/Call", throwing(true, fault), Bytes.MARSHALLER);
  private final MethodDescriptor<byte[], byte[]> badResponseParse =
      Bytes.method(Bytes.SERVICE + "/Call", Bytes.MARSHALLER, throwing(false, fault));

  UserFailureContract(Supplier<TransportHarness> harnesses) {
    super(harnesses);
  }

  private static Marshaller<byte[]> throwing(boolean inStream, RuntimeException thrown) {
    return new Marshaller<>() {
      @Override
      public InputStream stream(byte[] value) {
        if (inStream) {
          throw thrown;
        }
        return Bytes.MARSHALLER.stream(value);
      }

      @Override
      public byte[] parse(InputStream stream) {
        if (!inStream) {
          throw thrown;
        }
        return Bytes.MARSHALLER.parse(stream);
      }
    };
  }

  /** Serves a method whose marshallers are these. */
  private MethodDescriptor<byte[], byte[]> startWith(
      Served.Handler handler, Marshaller<byte[]> requests, Marshaller<byte[]> responses)
      throws Exception {
    final MethodDescriptor<byte[], byte[]> method =
        Bytes.method("bad.Service/Call", requests, responses);
    harness.server(
        builder ->
            builder.addService(
                ServerServiceDefinition.builder("bad.Service").addMethod(method, handler).build()));
    start(Bytes.digesting());
    return Bytes.method("bad.Service/Call");
  }

  private Exchange exchange(MethodDescriptor<byte[], byte[]> method) {
    return new Exchange(harness.channel(), method, CallOptions.DEFAULT);
  }

  @Test
  void requestThatCannotBeMarshalled() throws Exception {
    start(Bytes.digesting());
    final Exchange call = exchange(badRequestStream).start();
    call.call().request(2);
    try {
      call.call().sendMessage(new byte[1]);
      call.call().halfClose();
    } catch (IllegalStateException e) {
      // gRPC marshals in sendMessage, a ring in halfClose: this one may come too late
    }
    final Status status = call.await();
    assertStatus(Status.Code.CANCELLED, "Failed to stream message", status);
    assertSame(fault, status.getCause());
    assertEquals(List.of("close"), call.events());
    assertBlockingCallIsCancelled(badRequestStream);
    assertServes();
  }

  private void assertBlockingCallIsCancelled(MethodDescriptor<byte[], byte[]> method) {
    final StatusRuntimeException thrown =
        assertThrows(
            StatusRuntimeException.class,
            () ->
                ClientCalls.blockingUnaryCall(
                    harness.channel(), method, CallOptions.DEFAULT, new byte[1]));
    assertEquals(Status.Code.CANCELLED, thrown.getStatus().getCode());
  }

  @Test
  void requestThatCannotBeParsed() throws Exception {
    final Served.Handler handler = Served.digesting();
    final MethodDescriptor<byte[], byte[]> method =
        startWith(handler, throwing(false, fault), Bytes.MARSHALLER);
    final Exchange call = exchange(method).send(new byte[1]);
    assertStatus(Status.Code.UNKNOWN, "Application error processing RPC", call.await());
    handler.take().awaitEnd();
    assertServes();
  }

  @Test
  void requestWhoseParserThrowsAStatus() throws Exception {
    final StatusRuntimeException thrown =
        Status.INVALID_ARGUMENT.withDescription("malformed").asRuntimeException();
    final Served.Handler handler = Served.digesting();
    final MethodDescriptor<byte[], byte[]> method =
        startWith(handler, throwing(false, thrown), Bytes.MARSHALLER);
    final Exchange call = exchange(method).send(new byte[1]);
    assertStatus(Status.Code.UNKNOWN, "Application error processing RPC", call.await());
    assertServes();
  }

  @Test
  void responseThatCannotBeMarshalled() throws Exception {
    final Served.Handler handler =
        new Served.Handler(
            served -> {
              served.call.sendHeaders(new Metadata());
              served.call.sendMessage(served.request());
            });
    final MethodDescriptor<byte[], byte[]> method =
        startWith(handler, Bytes.MARSHALLER, throwing(true, fault));
    final Exchange call = exchange(method).send(new byte[1]);
    assertBrokenByServer(Status.Code.UNKNOWN, "", call.await());
    assertFalse(call.events().contains("message"));
    handler.take().awaitEnd();
    assertServes();
  }

  @Test
  void responseWhoseMarshallerThrowsAStatus() throws Exception {
    final StatusRuntimeException thrown =
        Status.DATA_LOSS.withDescription("gone").asRuntimeException();
    final Served.Handler handler =
        new Served.Handler(
            served -> {
              served.call.sendHeaders(new Metadata());
              served.call.sendMessage(served.request());
            });
    final MethodDescriptor<byte[], byte[]> method =
        startWith(handler, Bytes.MARSHALLER, throwing(true, thrown));
    assertBrokenByServer(Status.Code.DATA_LOSS, "gone", exchange(method).send(new byte[1]).await());
    assertServes();
  }

  @Test
  void responseThatCannotBeParsed() throws Exception {
    start(Bytes.digesting());
    final Exchange call = exchange(badResponseParse).send(new byte[1]);
    final Status status = call.await();
    assertStatus(Status.Code.CANCELLED, "Failed to read message", status);
    assertSame(fault, status.getCause());
    assertEquals(List.of("headers", "close"), call.events());
    assertBlockingCallIsCancelled(badResponseParse);
    assertServes();
  }

  @Test
  void listenerThatThrowsInReady() throws Exception {
    final MethodDescriptor<byte[], byte[]> chat =
        Bytes.method(Bytes.SERVICE + "/Chat", MethodDescriptor.MethodType.BIDI_STREAMING);
    final Served.Handler handler = Served.hanging();
    harness.handle(chat, handler);
    start(Bytes.digesting());
    final CompletableFuture<Status> end = new CompletableFuture<>();
    final ClientCall<byte[], byte[]> call = harness.channel().newCall(chat, CallOptions.DEFAULT);
    call.start(
        new ClientCall.Listener<>() {
          @Override
          public void onReady() {
            throw fault;
          }

          @Override
          public void onClose(Status status, Metadata trailers) {
            end.complete(status);
          }
        },
        new Metadata());
    final Status status = end.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
    assertStatus(Status.Code.CANCELLED, "Failed to call onReady.", status);
    assertSame(fault, status.getCause());
    assertServes();
  }

  @Test
  void listenerThatThrowsInHeaders() throws Exception {
    final Served.Handler handler = Served.digesting();
    start(handler);
    final Exchange call =
        new Exchange(harness.channel()) {
          @Override
          void inHeaders(Metadata headers) {
            throw fault;
          }
        };
    final Status status = call.send(new byte[1]).await();
    assertStatus(Status.Code.CANCELLED, "Failed to read headers", status);
    assertSame(fault, status.getCause());
    assertEquals(List.of("headers", "close"), call.events());
    handler.take().awaitEnd();
    assertServes();
  }

  @Test
  void listenerThatThrowsInMessage() throws Exception {
    start(Bytes.digesting());
    final Exchange call =
        new Exchange(harness.channel()) {
          @Override
          void inMessage(byte[] message) {
            throw fault;
          }
        };
    final Status status = call.send(new byte[1]).await();
    assertStatus(Status.Code.CANCELLED, "Failed to read message", status);
    assertSame(fault, status.getCause());
    assertEquals(List.of("headers", "message", "close"), call.events());
    assertServes();
  }

  @Test
  void listenerThatThrowsInClose() throws Exception {
    start(Bytes.digesting());
    final Exchange call =
        new Exchange(harness.channel()) {
          @Override
          void inClose(Status status) {
            throw fault;
          }
        };
    assertEquals(1, call.send(new byte[1]).response().length);
    assertServes();
  }

  @Test
  void listenerThatThrowsAnError() throws Exception {
    start(Bytes.digesting());
    final List<Error> errors =
        List.of(
            new AssertionError("thrown"),
            new OutOfMemoryError("thrown"),
            new StackOverflowError("thrown"));
    for (final Error thrown : errors) {
      for (final String where : List.of("headers", "message", "close")) {
        final Exchange call =
            new Exchange(harness.channel()) {
              private void fail(String here) {
                if (here.equals(where)) {
                  throw thrown;
                }
              }

              @Override
              void inHeaders(Metadata headers) {
                fail("headers");
              }

              @Override
              void inMessage(byte[] message) {
                fail("message");
              }

              @Override
              void inClose(Status status) {
                fail("close");
              }
            };
        final Status status = call.send(new byte[1]).await();
        if (where.equals("close")) { // too late to count
          assertEquals(Status.Code.OK, status.getCode());
        } else {
          assertEquals(Status.Code.CANCELLED, status.getCode());
          assertSame(thrown, status.getCause());
        }
        assertServes();
      }
    }
  }

  @Test
  void listenerThatCancelsInsideEachCallback() throws Exception {
    start(Bytes.digesting());
    for (final String where : List.of("headers", "message", "close")) {
      final Exchange call =
          new Exchange(harness.channel()) {
            private void cancel(String here) {
              if (here.equals(where)) {
                final ClientCall<byte[], byte[]> own = call();
                own.cancel("inside " + here, null);
                own.cancel("again", null);
              }
            }

            @Override
            void inHeaders(Metadata headers) {
              cancel("headers");
            }

            @Override
            void inMessage(byte[] message) {
              cancel("message");
            }

            @Override
            void inClose(Status status) {
              cancel("close");
            }
          };
      final Status status = call.send(new byte[1]).await();
      assertEquals(1, call.events().stream().filter("close"::equals).count());
      if (where.equals("close")) {
        assertEquals(Status.Code.OK, status.getCode());
      } else if (!status.isOk()) { // either may count: the answer is complete by then
        assertStatus(Status.Code.CANCELLED, "inside " + where, status);
      }
      assertServes();
    }
  }
}
