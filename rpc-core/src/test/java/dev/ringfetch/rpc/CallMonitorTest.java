package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ClientStreamTracer;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.io.InputStream;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A call that begins again elsewhere runs what is the application's, interceptors and marshallers,
 * while other threads may use it: they wait for nothing.
 */
class CallMonitorTest extends RingFixture {
  private final AtomicReference<ClientCall<?, ?>> used = new AtomicReference<>();
  private volatile Consumer<ClientCall<?, ?>> use;
  private volatile boolean waited;

  /** The application's code: waits for another thread, which uses the call that it is run for. */
  private void applicationCode() {
    final ClientCall<?, ?> call = used.get();
    final Consumer<ClientCall<?, ?>> once = use;
    if (call == null || once == null) {
      return;
    }
    use = null;
    final Thread other = new Thread(() -> once.accept(call));
    other.start();
    try {
      other.join(TimeUnit.SECONDS.toMillis(5));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    waited = other.isAlive();
  }

  private RingChannelBuilder startedInTheMidst() {
    return builder(
        onCalls(
            new Beneath() {
              @Override
              public <Q, R> ClientCall<Q, R> call(ClientCall<Q, R> call) {
                return new SimpleForwardingClientCall<>(call) {
                  @Override
                  public void start(Listener<R> listener, Metadata headers) {
                    super.start(listener, headers);
                    applicationCode();
                  }
                };
              }
            }));
  }

  /** A method whose requests are marshalled by code that waits. */
  private MethodDescriptor<byte[], byte[]> method() {
    final MethodDescriptor.Marshaller<byte[]> marshaller =
        new MethodDescriptor.Marshaller<>() {
          @Override
          public InputStream stream(byte[] message) {
            applicationCode();
            return Bytes.METHOD.streamRequest(message);
          }

          @Override
          public byte[] parse(InputStream stream) {
            return Bytes.METHOD.parseRequest(stream);
          }
        };
    return Bytes.method(Bytes.METHOD.getFullMethodName(), marshaller, marshaller);
  }

  private void uses(String what) {
    use =
        call -> {
          call.isReady();
          call.getAttributes();
          call.setMessageCompression(true);
          if (what.equals("request")) {
            call.request(2);
          } else {
            call.cancel("by another thread", null);
          }
        };
  }

  private void assertEnds(String what, Exchange call) throws InterruptedException {
    final Status status = call.await();
    assertFalse(waited, "another thread that uses the call waits for the application's code");
    if (what.equals("request")) {
      assertTrue(status.isOk(), status::toString);
      assertEquals(1, call.messages().size());
    } else {
      assertEquals(Status.Code.CANCELLED, status.getCode(), status::toString);
      assertEquals("by another thread", status.getDescription());
    }
  }

  /** Its ring's one stream is taken. */
  private RingChannel full(Supplier<RingChannelBuilder> builder) throws Exception {
    final Served.Handler handler = new Served.Handler(served -> {});
    serve(
        (call, headers) ->
            handler.waiting() == 0 && headers.get(Bytes.ascii("hang")) != null
                ? handler.startCall(call, headers)
                : Bytes.digesting().startCall(call, headers),
        options -> options.maxStreams(1));
    final RingChannel channel = connect(builder.get());
    new Exchange(channel).send(Bytes.metadata("hang", "1"), new byte[1]);
    handler.take().awaitHalfClose();
    return channel;
  }

  @ParameterizedTest
  @ValueSource(strings = {"request", "cancel"})
  void anInterceptorOfARoutedCallMayWait(String what) throws Exception {
    final RingChannel channel = full(this::startedInTheMidst);
    final Exchange call = new Exchange(channel);
    used.set(call.call());
    uses(what);
    send(call);
    assertEnds(what, call);
  }

  @ParameterizedTest
  @ValueSource(strings = {"request", "cancel"})
  void aMarshallerOfARoutedCallMayWait(String what) throws Exception {
    final RingChannel channel = full(this::builder);
    final Exchange call = new Exchange(channel, method(), CallOptions.DEFAULT);
    used.set(call.call());
    uses(what);
    send(call);
    assertEnds(what, call);
  }

  private static void send(Exchange call) {
    call.start();
    try {
      call.call().sendMessage(new byte[1]);
      call.call().halfClose();
    } catch (IllegalStateException e) { // cancelled before
      assertEquals("call was cancelled", e.getMessage());
    }
  }

  /** Of a call whose ring ends before anything has left. */
  private CallOptions ending(RingChannel channel) {
    return CallOptions.DEFAULT.withStreamTracerFactory(
        new ClientStreamTracer.Factory() {
          @Override
          public ClientStreamTracer newClientStreamTracer(
              ClientStreamTracer.StreamInfo info, Metadata headers) {
            if (channel.transport().isRing()) {
              channel.ring().session().end("the test wants it");
            }
            return new ClientStreamTracer() {};
          }
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"request", "cancel"})
  void anInterceptorOfARestartingCallMayWait(String what) throws Exception {
    serve(Bytes.digesting());
    final RingChannel channel = connect(startedInTheMidst());
    final Exchange call = new Exchange(channel, Bytes.METHOD, ending(channel));
    used.set(call.call());
    uses(what);
    send(call);
    assertEnds(what, call);
  }

  /** What was asked in the midst comes after what was asked before. */
  @Test
  void whatIsAskedInTheMidstIsNotLost() throws Exception {
    final RingChannel channel = full(this::startedInTheMidst);
    for (int round = 0; round < 20; round++) {
      final Exchange call = new Exchange(channel);
      used.set(call.call());
      use = asked -> asked.request(1);
      call.start();
      call.call().request(1);
      call.call().sendMessage(new byte[4]);
      call.call().halfClose();
      assertEquals(4, call.response().length);
    }
  }
}
