package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.protocol.Hello;
import dev.ringfetch.protocol.OpenRequest;
import dev.ringfetch.protocol.OpenResponse;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors;
import io.grpc.ForwardingClientCall;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server is waited for while it is to take a step of the handshake, and no longer. */
final class HandshakeStreamTest implements HandshakeStream.Listener {
  private static final int LIMIT_S = 60;
  private static final long TIMEOUT_NS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long LONG_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(2);
  private static final String TOO_LATE = "handshake: no step of the server in time: timeoutNs=";
  private static final OpenRequest REQUEST = new OpenRequest().set(OpenRequest.HELLO, new Hello());

  private Error error;
  private final BlockingQueue<String> said = new LinkedBlockingQueue<>();
  private final BlockingQueue<Steps> streams = new LinkedBlockingQueue<>();
  private Server server;
  private ManagedChannel channel;

  @BeforeEach
  void start() throws Exception {
    final String name = InProcessServerBuilder.generateName();
    final ServerServiceDefinition service =
        ServerServiceDefinition.builder(SessionService.NAME)
            .addMethod(SessionService.OPEN, ServerCalls.asyncBidiStreamingCall(this::open))
            .build();
    server = InProcessServerBuilder.forName(name).addService(service).build().start();
    channel = InProcessChannelBuilder.forName(name).build();
  }

  @AfterEach
  void stop() throws Exception {
    channel.shutdownNow();
    server.shutdownNow().awaitTermination(LIMIT_S, TimeUnit.SECONDS);
  }

  @Test
  void aServerThatTakesNoStepIsNotWaitedFor() throws Exception {
    open(TIMEOUT_NS).send(REQUEST);
    assertEquals(TOO_LATE + TIMEOUT_NS, next());
    assertTrue(streams.take().cancelled.await(LIMIT_S, TimeUnit.SECONDS), "the server knows");
  }

  @Test
  void aStepThatComesTooLateIsNotTaken() throws Exception {
    final HandshakeStream stream = open(TIMEOUT_NS);
    stream.send(REQUEST);
    assertEquals(TOO_LATE + TIMEOUT_NS, next());
    stream.onNext(new OpenResponse());
    assertNull(said.poll());
  }

  @Test
  void eachStepIsDueByItself() throws Exception {
    final HandshakeStream stream = open(LONG_TIMEOUT_NS);
    final Steps steps = streams.take();
    steps.answers = true;
    stream.send(REQUEST);
    assertEquals("response", next());
    assertNull(said.poll(3 * LONG_TIMEOUT_NS / 2, TimeUnit.NANOSECONDS), "a session would be open");
    steps.answers = false;
    stream.send(REQUEST);
    assertEquals(TOO_LATE + LONG_TIMEOUT_NS, next());
  }

  @Test
  void nothingIsDueOfAStreamThatHasEnded() throws Exception {
    final HandshakeStream stream = open(LONG_TIMEOUT_NS);
    stream.send(REQUEST);
    stream.close();
    assertNull(said.poll(3 * LONG_TIMEOUT_NS / 2, TimeUnit.NANOSECONDS));
    streams.take().responses.onCompleted();
    assertEquals("the server has ended the session", next());
  }

  /** A process that was stopped: its system accepts connections, and it says nothing in any. */
  @Test
  void aServerThatLetsNoConnectionComeAboutIsNotWaitedFor() throws Exception {
    try (ServerSocket stopped = new ServerSocket(0, 0, InetAddress.getLoopbackAddress())) {
      final ManagedChannel mute =
          Grpc.newChannelBuilderForAddress(
                  stopped.getInetAddress().getHostAddress(),
                  stopped.getLocalPort(),
                  InsecureChannelCredentials.create())
              .build();
      try {
        new HandshakeStream(this, TIMEOUT_NS, LONG_TIMEOUT_NS).start(mute);
        assertEquals("handshake: no connection in time: timeoutNs=" + TIMEOUT_NS, next());
        assertNull(said.poll(TIMEOUT_NS, TimeUnit.NANOSECONDS), "told once");
      } finally {
        mute.shutdownNow();
      }
    }
  }

  /** Nobody else is told: the channel would have waited for ever. */
  @Test
  void aHandshakeThatCannotBeginEnds() throws Exception {
    error = new UnsatisfiedLinkError("no library");
    final HandshakeStream stream =
        new HandshakeStream(this, TimeUnit.SECONDS.toNanos(LIMIT_S), LONG_TIMEOUT_NS);
    stream.start(channel);
    assertEquals("handshake: CANCELLED: UnsatisfiedLinkError: no library", next());
    assertTrue(streams.take().cancelled.await(LIMIT_S, TimeUnit.SECONDS), "the server knows");
  }

  /**
   * Classes of ours, or of an interceptor of the gRPC channel: calls go over gRPC, and meet the
   * latter, too.
   */
  @Test
  void aMissingClassFailsNoCall() throws Exception {
    final ClientInterceptor broken =
        new ClientInterceptor() {
          @Override
          public <Q, R> ClientCall<Q, R> interceptCall(
              MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
            throw new NoClassDefFoundError("a/b/C");
          }
        };
    new HandshakeStream(this, LONG_TIMEOUT_NS, LONG_TIMEOUT_NS)
        .start(ClientInterceptors.intercept(channel, broken));
    assertEquals("handshake: NoClassDefFoundError: a/b/C", next());
  }

  /** Calls wait for room while an attempt has just begun: it ends, and is not half of one. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whatIsGivenUpBeforeItHasStartedEnds(boolean hasCall) throws Exception {
    final HandshakeStream stream = new HandshakeStream(this, LONG_TIMEOUT_NS, LONG_TIMEOUT_NS);
    final ClientInterceptor meanwhile =
        new ClientInterceptor() {
          @Override
          public <Q, R> ClientCall<Q, R> interceptCall(
              MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
            if (!hasCall) {
              stream.giveUp(() -> "no room");
            }
            return new ForwardingClientCall.SimpleForwardingClientCall<>(
                next.newCall(method, options)) {
              @Override
              public void start(Listener<R> listener, Metadata headers) {
                if (hasCall) {
                  stream.giveUp(() -> "no room");
                }
                super.start(listener, headers);
              }
            };
          }
        };
    stream.start(ClientInterceptors.intercept(channel, meanwhile));
    assertEquals("handshake: no room", next());
  }

  @Test
  void aHelloThatComesAfterTheEndIsNotWaitedForWithoutEnd() throws Exception {
    final HandshakeStream stream = open(TIMEOUT_NS);
    stream.close();
    stream.send(REQUEST);
    assertEquals(TOO_LATE + TIMEOUT_NS, next());
  }

  /** That one is the application's, or of the whole process: its call is to end with it. */
  @Test
  void anotherErrorIsThrown() throws Exception {
    final ClientInterceptor broken =
        new ClientInterceptor() {
          @Override
          public <Q, R> ClientCall<Q, R> interceptCall(
              MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
            throw new AssertionError("of the application");
          }
        };
    final HandshakeStream stream = new HandshakeStream(this, LONG_TIMEOUT_NS, LONG_TIMEOUT_NS);
    final Channel channelOfBroken = ClientInterceptors.intercept(channel, broken);
    assertThrows(AssertionError.class, () -> stream.start(channelOfBroken));
  }

  private HandshakeStream open(long timeoutNs) throws Exception {
    final HandshakeStream stream =
        new HandshakeStream(this, TimeUnit.SECONDS.toNanos(LIMIT_S), timeoutNs);
    stream.start(channel);
    assertEquals("connected", next());
    return stream;
  }

  private String next() throws InterruptedException {
    return said.poll(LIMIT_S, TimeUnit.SECONDS);
  }

  @Override
  public void onConnected() {
    if (error != null) {
      throw error;
    }
    said.add("connected");
  }

  @Override
  public void onResponse(OpenResponse response) {
    said.add("response");
  }

  @Override
  public void onEnd(String reason, long maxBackoffNs) {
    said.add(reason);
  }

  private StreamObserver<OpenRequest> open(StreamObserver<OpenResponse> responses) {
    final Steps steps = new Steps(responses);
    streams.add(steps);
    return steps;
  }

  /** The server's end of a stream: answers, or takes no step. */
  private static final class Steps implements StreamObserver<OpenRequest> {
    final StreamObserver<OpenResponse> responses;
    final CountDownLatch cancelled = new CountDownLatch(1);
    volatile boolean answers;

    Steps(StreamObserver<OpenResponse> responses) {
      this.responses = responses;
    }

    @Override
    public void onNext(OpenRequest request) {
      if (answers) {
        responses.onNext(new OpenResponse());
      }
    }

    @Override
    public void onError(Throwable t) {
      cancelled.countDown();
    }

    @Override
    public void onCompleted() {}
  }
}
