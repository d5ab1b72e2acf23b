package dev.ringfetch.rpc;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.system.Await;
import io.grpc.CallCredentials;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls whose messages come and go one by one. */
@Timeout(60)
abstract class StreamingContract extends TransportContract {
  private static final MethodDescriptor<byte[], byte[]> UPLOAD = of(MethodType.CLIENT_STREAMING);
  private static final MethodDescriptor<byte[], byte[]> DOWNLOAD = of(MethodType.SERVER_STREAMING);
  private static final MethodDescriptor<byte[], byte[]> CHAT = of(MethodType.BIDI_STREAMING);

  private static final int CHUNK_LENGTH = 16 * 1024;
  private static final int MANY = 10_000;
  private static final int MUCH = 8 * 1024 * 1024;
  private static final int LIMIT = 4 * 1024 * 1024;

  StreamingContract(Supplier<TransportHarness> harnesses) {
    super(harnesses);
  }

  private static MethodDescriptor<byte[], byte[]> of(MethodType type) {
    return Bytes.method(Bytes.SERVICE + "/" + type, type);
  }

  /** Collects what a stub is told. */
  static class Observed implements StreamObserver<byte[]> {
    final BlockingQueue<byte[]> messages = new LinkedBlockingQueue<>();
    final CompletableFuture<Status> end = new CompletableFuture<>();

    @Override
    public void onNext(byte[] message) {
      messages.add(message);
    }

    @Override
    public void onError(Throwable t) {
      end.complete(Status.fromThrowable(t));
    }

    @Override
    public void onCompleted() {
      end.complete(Status.OK);
    }

    byte[] next() throws InterruptedException {
      final byte[] message = messages.poll(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
      assertNotNull(message, () -> "no message; end=" + end.getNow(null));
      return message;
    }

    Status end() throws Exception {
      return end.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
    }
  }

  /** A listener that asks for nothing by itself. */
  private static class Listening extends ClientCall.Listener<byte[]> {
    final AtomicInteger messages = new AtomicInteger();
    final AtomicInteger readies = new AtomicInteger();
    final CompletableFuture<Status> end = new CompletableFuture<>();

    @Override
    public void onMessage(byte[] message) {
      messages.incrementAndGet();
    }

    @Override
    public void onReady() {
      readies.incrementAndGet();
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      end.complete(status);
    }

    Status end() throws Exception {
      return end.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
    }
  }

  /** A server's call that keeps still: the test has it. */
  private static final class Held extends ServerCall.Listener<byte[]> {
    final ServerCall<byte[], byte[]> call;
    final AtomicInteger messages = new AtomicInteger();
    final AtomicInteger readies = new AtomicInteger();
    final CountDownLatch halfClosed = new CountDownLatch(1);
    final CompletableFuture<String> end = new CompletableFuture<>();

    Held(ServerCall<byte[], byte[]> call) {
      this.call = call;
    }

    @Override
    public void onMessage(byte[] message) {
      messages.incrementAndGet();
    }

    @Override
    public void onReady() {
      readies.incrementAndGet();
    }

    @Override
    public void onHalfClose() {
      halfClosed.countDown();
    }

    @Override
    public void onCancel() {
      end.complete("cancel");
    }

    @Override
    public void onComplete() {
      end.complete("complete");
    }

    String end() throws Exception {
      return end.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
    }
  }

  private final BlockingQueue<Held> held = new LinkedBlockingQueue<>();

  private ServerCallHandler<byte[], byte[]> holding() {
    return (call, headers) -> {
      final Held started = new Held(call);
      held.add(started);
      return started;
    };
  }

  private Held take() throws InterruptedException {
    final Held taken = held.poll(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
    assertNotNull(taken, "no call has come");
    return taken;
  }

  private static ServerCallHandler<byte[], byte[]> counting() {
    return ServerCalls.asyncClientStreamingCall(
        responses ->
            new StreamObserver<byte[]>() {
              private int length;

              @Override
              public void onNext(byte[] message) {
                length += message.length;
              }

              @Override
              public void onError(Throwable t) {}

              @Override
              public void onCompleted() {
                responses.onNext(Integer.toString(length).getBytes(UTF_8));
                responses.onCompleted();
              }
            });
  }

  /** As many responses as the request says, each as long as its number. */
  private static ServerCallHandler<byte[], byte[]> enumerating() {
    return ServerCalls.asyncServerStreamingCall(
        (request, responses) -> {
          final int count = Integer.parseInt(new String(request, UTF_8));
          for (int i = 0; i < count; i++) {
            responses.onNext(Bytes.random(i, i));
          }
          responses.onCompleted();
        });
  }

  private static ServerCallHandler<byte[], byte[]> echoing() {
    return ServerCalls.asyncBidiStreamingCall(
        responses ->
            new StreamObserver<byte[]>() {
              @Override
              public void onNext(byte[] message) {
                responses.onNext(Bytes.digest(message));
              }

              @Override
              public void onError(Throwable t) {}

              @Override
              public void onCompleted() {
                responses.onCompleted();
              }
            });
  }

  private <T extends ClientCall.Listener<byte[]>> ClientCall<byte[], byte[]> begin(
      MethodDescriptor<byte[], byte[]> method, T listener) {
    final ClientCall<byte[], byte[]> call = harness.channel().newCall(method, CallOptions.DEFAULT);
    call.start(listener, new Metadata());
    return call;
  }

  private StreamObserver<byte[]> chat(Observed observed) {
    return ClientCalls.asyncBidiStreamingCall(
        harness.channel().newCall(CHAT, CallOptions.DEFAULT), observed);
  }

  private StreamObserver<byte[]> upload(Observed observed) {
    return ClientCalls.asyncClientStreamingCall(
        harness.channel().newCall(UPLOAD, CallOptions.DEFAULT), observed);
  }

  /** Also where its executor runs tasks at once: it is told when it can send. */
  @Test
  void aStreamWithCredentialsSendsWhenItIsReady() throws Exception {
    harness.handle(UPLOAD, counting()).start();
    final CallCredentials credentials =
        new CallCredentials() {
          @Override
          public void applyRequestMetadata(
              RequestInfo request, Executor executor, MetadataApplier applier) {
            executor.execute(() -> applier.apply(new Metadata()));
          }
        };
    final CallOptions options =
        CallOptions.DEFAULT.withExecutor(Runnable::run).withCallCredentials(credentials);
    final ClientCall<byte[], byte[]> call = harness.channel().newCall(UPLOAD, options);
    final AtomicBoolean sent = new AtomicBoolean();
    final Listening listening =
        new Listening() {
          @Override
          public void onReady() {
            if (call.isReady() && !sent.getAndSet(true)) {
              call.sendMessage(new byte[7]);
              call.halfClose();
            }
          }
        };
    call.start(listening, new Metadata());
    call.request(1);
    assertEquals(Status.Code.OK, listening.end().getCode());
    assertEquals(1, listening.messages.get());
  }

  @Test
  void clientStreams() throws Exception {
    harness.handle(UPLOAD, counting()).start();
    final Observed observed = new Observed();
    final StreamObserver<byte[]> requests = upload(observed);
    int length = 0;
    for (int i = 0; i < 500; i++) {
      requests.onNext(new byte[i]);
      length += i;
    }
    requests.onCompleted();
    assertEquals(Integer.toString(length), new String(observed.next(), UTF_8));
    assertEquals(Status.Code.OK, observed.end().getCode());
  }

  @Test
  void clientStreamsNothing() throws Exception {
    harness.handle(UPLOAD, counting()).start();
    final Observed observed = new Observed();
    upload(observed).onCompleted();
    assertEquals("0", new String(observed.next(), UTF_8));
    assertEquals(Status.Code.OK, observed.end().getCode());
  }

  @Test
  void serverStreamsInOrderAndToTheByte() throws Exception {
    harness.handle(DOWNLOAD, enumerating()).start();
    final Iterator<byte[]> responses =
        ClientCalls.blockingServerStreamingCall(
            harness.channel(), DOWNLOAD, CallOptions.DEFAULT, "1000".getBytes(UTF_8));
    for (int i = 0; i < 1000; i++) {
      assertArrayEquals(Bytes.random(i, i), responses.next());
    }
    assertFalse(responses.hasNext());
  }

  @Test
  void serverStreamsNothing() throws Exception {
    harness.handle(DOWNLOAD, enumerating()).start();
    assertFalse(
        ClientCalls.blockingServerStreamingCall(
                harness.channel(), DOWNLOAD, CallOptions.DEFAULT, "0".getBytes(UTF_8))
            .hasNext());
  }

  @Test
  void pingPong() throws Exception {
    harness.handle(CHAT, echoing()).start();
    final Observed observed = new Observed();
    final StreamObserver<byte[]> requests = chat(observed);
    for (int i = 0; i < 200; i++) {
      final byte[] ping = Bytes.random(i, 7 * i);
      requests.onNext(ping);
      assertArrayEquals(Bytes.digest(ping), observed.next());
    }
    requests.onCompleted();
    assertEquals(Status.Code.OK, observed.end().getCode());
  }

  @Test
  void longStreamKeepsItsOrder() throws Exception {
    harness.handle(CHAT, echoing()).start();
    final Observed observed = new Observed();
    final StreamObserver<byte[]> requests = chat(observed);
    for (int i = 0; i < MANY; i++) {
      requests.onNext(Bytes.random(i, 40));
    }
    requests.onCompleted();
    for (int i = 0; i < MANY; i++) {
      assertArrayEquals(Bytes.digest(Bytes.random(i, 40)), observed.next(), "message " + i);
    }
    assertEquals(Status.Code.OK, observed.end().getCode());
  }

  @Test
  void messagesOfEverySizeAroundThePowersOfTwo() throws Exception {
    harness.handle(CHAT, echoing()).start();
    final Observed observed = new Observed();
    final StreamObserver<byte[]> requests = chat(observed);
    final List<byte[]> sent = new ArrayList<>();
    for (int power = 0; power <= 22; power++) {
      for (int length = (1 << power) - 1; length <= Math.min(LIMIT, (1 << power) + 1); length++) {
        sent.add(Bytes.random(length, length));
      }
    }
    sent.forEach(requests::onNext);
    requests.onCompleted();
    for (final byte[] message : sent) {
      assertArrayEquals(Bytes.digest(message), observed.next(), "length=" + message.length);
    }
    assertEquals(Status.Code.OK, observed.end().getCode());
  }

  @Test
  void manyStreamsAtOnceDoNotMix() throws Exception {
    harness.handle(CHAT, echoing()).start();
    final List<Observed> observed = new ArrayList<>();
    final List<StreamObserver<byte[]>> requests = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      observed.add(new Observed());
      requests.add(chat(observed.get(i)));
    }
    for (int round = 0; round < 20; round++) {
      for (int i = 0; i < requests.size(); i++) {
        requests.get(i).onNext(Bytes.random(1_000 * i + round, 10 * i + round));
      }
    }
    requests.forEach(StreamObserver::onCompleted);
    for (int i = 0; i < observed.size(); i++) {
      for (int round = 0; round < 20; round++) {
        assertArrayEquals(
            Bytes.digest(Bytes.random(1_000 * i + round, 10 * i + round)), observed.get(i).next());
      }
      assertEquals(Status.Code.OK, observed.get(i).end().getCode());
    }
  }

  @Test
  void serverThatHeedsIsReadyIsHeldBack() throws Exception {
    harness.handle(DOWNLOAD, holding()).start();
    final Listening listening = new Listening();
    final ClientCall<byte[], byte[]> call = begin(DOWNLOAD, listening);
    call.sendMessage(Bytes.EMPTY);
    call.halfClose();
    final Held server = take();
    server.call.request(1);
    server.call.sendHeaders(new Metadata());
    int sent = 0;
    long lastNs = System.nanoTime();
    while (System.nanoTime() - lastNs < TimeUnit.MILLISECONDS.toNanos(300)) {
      if (server.call.isReady()) {
        assertTrue(++sent < MANY, "the client reads nothing, and the server is ready for more");
        server.call.sendMessage(new byte[CHUNK_LENGTH]);
        lastNs = System.nanoTime();
      }
      Thread.onSpinWait();
    }
    assertTrue(sent > 0);
    assertEquals(0, listening.messages.get());
    final int readies = server.readies.get();
    call.request(sent);
    Await.until("room", () -> server.call.isReady());
    Await.until("the server is told of it", () -> server.readies.get() > readies);
    final int all = sent;
    Await.until("all messages", () -> listening.messages.get() == all);
    server.call.close(Status.OK, new Metadata());
    assertEquals(Status.Code.OK, listening.end().getCode());
    assertEquals("complete", server.end());
  }

  @Test
  void clientThatHeedsIsReadyIsHeldBack() throws Exception {
    harness.handle(UPLOAD, holding()).start();
    final Listening listening = new Listening();
    final ClientCall<byte[], byte[]> call = begin(UPLOAD, listening);
    call.request(1);
    final Held server = take();
    int sent = 0;
    long lastNs = System.nanoTime();
    while (System.nanoTime() - lastNs < TimeUnit.MILLISECONDS.toNanos(300)) {
      if (call.isReady()) {
        assertTrue(++sent < MANY, "the server reads nothing, and the client is ready for more");
        call.sendMessage(new byte[CHUNK_LENGTH]);
        lastNs = System.nanoTime();
      }
      Thread.onSpinWait();
    }
    final int readies = listening.readies.get();
    assertTrue(sent > 0);
    assertEquals(0, server.messages.get());
    server.call.request(sent);
    final int all = sent;
    Await.until("all messages", () -> server.messages.get() == all);
    Await.until("room", call::isReady);
    Await.until("the client is told of it", () -> listening.readies.get() > readies);
    call.halfClose();
    assertTrue(server.halfClosed.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    server.call.sendHeaders(new Metadata());
    server.call.sendMessage(Bytes.EMPTY);
    server.call.close(Status.OK, new Metadata());
    assertEquals(Status.Code.OK, listening.end().getCode());
  }

  /** Sends until it is not ready, to a client that reads nothing; returns how many bytes. */
  private static long fill(Held server) {
    long sent = 0;
    long lastNs = System.nanoTime();
    while (System.nanoTime() - lastNs < TimeUnit.MILLISECONDS.toNanos(300)) {
      if (server.call.isReady()) {
        server.call.sendMessage(new byte[CHUNK_LENGTH]);
        sent += CHUNK_LENGTH;
        lastNs = System.nanoTime();
      }
      Thread.onSpinWait();
    }
    return sent;
  }

  @Test
  void theServerSaysHowMuchMayWait() throws Exception {
    harness.handle(DOWNLOAD, holding()).start();
    final long[] sent = new long[2];
    for (int i = 0; i < 2; i++) {
      final Listening listening = new Listening();
      final ClientCall<byte[], byte[]> call = begin(DOWNLOAD, listening);
      call.sendMessage(Bytes.EMPTY);
      call.halfClose();
      final Held server = take();
      server.call.setOnReadyThreshold(i == 0 ? 1 : MUCH);
      server.call.request(1);
      server.call.sendHeaders(new Metadata());
      sent[i] = fill(server);
      final int readies = server.readies.get();
      call.request(Integer.MAX_VALUE);
      Await.until("the server is told of room", () -> server.readies.get() > readies);
      server.call.close(Status.OK, new Metadata());
      assertEquals(Status.Code.OK, listening.end().getCode());
    }
    assertTrue(sent[1] - sent[0] > MUCH / 2, () -> Arrays.toString(sent));
  }

  @Test
  void theClientSaysHowMuchMayWait() throws Exception {
    harness.handle(UPLOAD, holding()).start();
    final long[] sent = new long[2];
    for (int i = 0; i < 2; i++) {
      final Listening listening = new Listening();
      final ClientCall<byte[], byte[]> call =
          harness
              .channel()
              .newCall(UPLOAD, CallOptions.DEFAULT.withOnReadyThreshold(i == 0 ? 1 : MUCH));
      call.start(listening, new Metadata());
      final Held server = take();
      long lastNs = System.nanoTime();
      while (System.nanoTime() - lastNs < TimeUnit.MILLISECONDS.toNanos(300)) {
        if (call.isReady()) {
          call.sendMessage(new byte[CHUNK_LENGTH]);
          sent[i] += CHUNK_LENGTH;
          lastNs = System.nanoTime();
        }
        Thread.onSpinWait();
      }
      final int readies = listening.readies.get();
      server.call.request(Integer.MAX_VALUE);
      Await.until("the client is told of room", () -> listening.readies.get() > readies);
      call.cancel("enough", null);
      assertEquals("cancel", server.end());
    }
    assertTrue(sent[1] - sent[0] > MUCH / 2, () -> Arrays.toString(sent));
  }

  /** A client that sends one message has no use for it; others are told once, if none waits. */
  @Test
  void whoSendsOneMessageIsNotToldThatItIsReady() throws Exception {
    final MethodDescriptor<byte[], byte[]> unary = of(MethodType.UNARY);
    harness.handle(unary, holding()).handle(DOWNLOAD, holding()).handle(CHAT, holding()).start();
    for (final MethodDescriptor<byte[], byte[]> method : List.of(unary, DOWNLOAD, CHAT)) {
      final Listening listening = new Listening();
      final ClientCall<byte[], byte[]> call = begin(method, listening);
      call.request(2);
      Held begun = null;
      if (method == CHAT) {
        begun = take();
        begun.call.request(2);
        Await.until("the client is ready", () -> listening.readies.get() > 0 && call.isReady());
      }
      call.sendMessage(new byte[1]);
      call.halfClose();
      final Held server = begun == null ? take() : begun;
      server.call.request(2);
      Await.until("the server is ready", () -> server.readies.get() > 0);
      Await.until("the message", () -> server.messages.get() == 1);
      server.call.sendHeaders(new Metadata());
      server.call.sendMessage(Bytes.EMPTY);
      server.call.close(Status.OK, new Metadata());
      assertEquals(Status.Code.OK, listening.end().getCode());
      if (method != CHAT) {
        assertEquals(0, listening.readies.get(), method::getFullMethodName);
      }
    }
  }

  /** However much waits, and though nobody reads. */
  @Test
  void sendMessageNeverBlocks() throws Exception {
    harness.handle(UPLOAD, holding()).start();
    final Listening listening = new Listening();
    final ClientCall<byte[], byte[]> call = begin(UPLOAD, listening);
    final Held server = take();
    for (int i = 0; i < 500; i++) {
      call.sendMessage(new byte[CHUNK_LENGTH]);
    }
    assertFalse(listening.end.isDone());
    assertEquals(0, server.messages.get());
    server.call.request(500);
    Await.until("all messages", () -> server.messages.get() == 500);
    call.cancel("enough", null);
    assertEquals("cancel", server.end());
  }

  @Test
  void readerThatDoesNotReadHoldsNobodyElseBack() throws Exception {
    harness.handle(DOWNLOAD, holding()).handle(CHAT, echoing()).start();
    final Listening still = new Listening();
    final ClientCall<byte[], byte[]> call = begin(DOWNLOAD, still);
    call.sendMessage(Bytes.EMPTY);
    call.halfClose();
    final Held server = take();
    server.call.request(1);
    server.call.sendHeaders(new Metadata());
    for (int i = 0; i < 200; i++) {
      server.call.sendMessage(new byte[CHUNK_LENGTH]); // heeds nothing
    }
    final Observed observed = new Observed();
    final StreamObserver<byte[]> requests = chat(observed);
    for (int i = 0; i < 200; i++) {
      final byte[] message = Bytes.random(i, CHUNK_LENGTH);
      requests.onNext(message);
      assertArrayEquals(Bytes.digest(message), observed.next());
    }
    requests.onCompleted();
    assertEquals(Status.Code.OK, observed.end().getCode());
    assertEquals(0, still.messages.get());
    call.cancel("enough", null);
    assertEquals("cancel", server.end());
    assertEquals(Status.Code.CANCELLED, still.end().getCode());
  }

  @Test
  void onlyWhatIsAskedForIsDelivered() throws Exception {
    harness.handle(DOWNLOAD, holding()).start();
    final Listening listening = new Listening();
    final ClientCall<byte[], byte[]> call = begin(DOWNLOAD, listening);
    call.sendMessage(Bytes.EMPTY);
    call.halfClose();
    final Held server = take();
    server.call.request(1);
    server.call.sendHeaders(new Metadata());
    for (int i = 0; i < 10; i++) {
      server.call.sendMessage(new byte[100]);
    }
    server.call.close(Status.OK, new Metadata());
    for (int asked = 1; asked <= 10; asked++) {
      call.request(1);
      final int expected = asked;
      Await.until("message " + asked, () -> listening.messages.get() >= expected);
      Thread.sleep(5);
      assertEquals(asked, listening.messages.get());
    }
    assertEquals(Status.Code.OK, listening.end().getCode());
  }

  @Test
  void serverMayCloseBeforeTheClientHas() throws Exception {
    harness.handle(UPLOAD, holding()).start();
    final Listening listening = new Listening();
    final ClientCall<byte[], byte[]> call = begin(UPLOAD, listening);
    call.request(2);
    call.sendMessage(new byte[10]);
    final Held server = take();
    server.call.close(
        Status.FAILED_PRECONDITION.withDescription("no more"), Bytes.metadata("why", "full"));
    assertStatus(Status.Code.FAILED_PRECONDITION, "no more", listening.end());
    call.sendMessage(new byte[10]); // crosses it, and is dropped
    call.halfClose();
  }

  @Test
  void cancelInMidstreamReachesTheServer() throws Exception {
    harness.handle(CHAT, holding()).start();
    final Listening listening = new Listening();
    final ClientCall<byte[], byte[]> call = begin(CHAT, listening);
    call.request(100);
    call.sendMessage(new byte[10]);
    final Held server = take();
    server.call.request(100);
    server.call.sendHeaders(new Metadata());
    server.call.sendMessage(new byte[10]);
    Await.until(
        "a message at both sides", () -> server.messages.get() + listening.messages.get() == 2);
    call.cancel("enough", null);
    assertStatus(Status.Code.CANCELLED, "enough", listening.end());
    assertEquals("cancel", server.end());
    assertTrue(server.call.isCancelled());
  }

  @Test
  void deadlineEndsAStreamAtBothSides() throws Exception {
    harness.handle(CHAT, holding()).start();
    final Listening listening = new Listening();
    final ClientCall<byte[], byte[]> call =
        harness
            .channel()
            .newCall(CHAT, CallOptions.DEFAULT.withDeadlineAfter(300, TimeUnit.MILLISECONDS));
    call.start(listening, new Metadata());
    call.request(1);
    final Held server = take();
    assertEquals(Status.Code.DEADLINE_EXCEEDED, listening.end().getCode());
    assertEquals("cancel", server.end());
  }

  @Test
  void failureOfTheHandlerEndsTheStream() throws Exception {
    harness
        .handle(
            CHAT,
            ServerCalls.asyncBidiStreamingCall(
                responses ->
                    new StreamObserver<byte[]>() {
                      @Override
                      public void onNext(byte[] message) {
                        throw new IllegalStateException("as the test wants");
                      }

                      @Override
                      public void onError(Throwable t) {}

                      @Override
                      public void onCompleted() {}
                    }))
        .start();
    final Observed observed = new Observed();
    chat(observed).onNext(new byte[1]);
    assertEquals(Status.Code.UNKNOWN, observed.end().getCode());
  }

  @Test
  void tooLongAMessageEndsTheStream() throws Exception {
    harness.server(builder -> builder.maxInboundMessageSize(1_000)).handle(CHAT, echoing()).start();
    final Observed observed = new Observed();
    final StreamObserver<byte[]> requests = chat(observed);
    requests.onNext(new byte[1_000]);
    assertEquals(1_000, observed.next().length);
    requests.onNext(new byte[1_001]);
    final Status status = observed.end();
    assertTrue(
        status.getCode() == Status.Code.RESOURCE_EXHAUSTED
            || status.getCode() == Status.Code.CANCELLED, // gRPC resets the stream
        status::toString);
  }

  @Test
  void endOfTheServerFailsStreamsInFlight() throws Exception {
    harness.handle(CHAT, holding()).start();
    final Listening listening = new Listening();
    final ClientCall<byte[], byte[]> call = begin(CHAT, listening);
    call.request(1);
    take();
    harness.server().shutdownNow();
    final Status status = listening.end();
    assertTrue(
        status.getCode() == Status.Code.UNAVAILABLE || status.getCode() == Status.Code.CANCELLED,
        status::toString);
  }

  @Test
  void headersComeBeforeTheFirstMessage() throws Exception {
    harness.handle(CHAT, holding()).start();
    final CompletableFuture<Metadata> came = new CompletableFuture<>();
    final ClientCall<byte[], byte[]> call =
        begin(
            CHAT,
            new ClientCall.Listener<byte[]>() {
              @Override
              public void onHeaders(Metadata headers) {
                came.complete(headers);
              }
            });
    take().call.sendHeaders(Bytes.metadata("first", "yes"));
    assertEquals(
        "yes", came.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS).get(Bytes.ascii("first")));
    call.cancel("done", null);
  }

  @Test
  void manyStreamsOneAfterAnother() throws Exception {
    harness.handle(CHAT, echoing()).start();
    for (int round = 0; round < 300; round++) {
      final Observed observed = new Observed();
      final StreamObserver<byte[]> requests = chat(observed);
      requests.onNext(Bytes.random(round, round));
      if (round % 3 == 0) {
        requests.onError(Status.CANCELLED.asException());
        assertEquals(Status.Code.CANCELLED, observed.end().getCode());
      } else {
        assertEquals(round, observed.next().length);
        requests.onCompleted();
        assertEquals(Status.Code.OK, observed.end().getCode());
      }
    }
  }
}
