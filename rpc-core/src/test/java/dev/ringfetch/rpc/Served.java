package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/** A server's call, and what its listener is told. Fails when two callbacks run at a time. */
final class Served extends ServerCall.Listener<byte[]> {
  final ServerCall<byte[], byte[]> call;
  final Metadata headers;
  final Context context = Context.current();
  final Thread thread = Thread.currentThread();

  private final Consumer<Served> onHalfClose;
  private final AtomicBoolean inside = new AtomicBoolean();
  private final AtomicReference<String> wrong = new AtomicReference<>();
  private final CountDownLatch halfClosed = new CountDownLatch(1);
  private final CountDownLatch ended = new CountDownLatch(1);
  private final List<String> events = new ArrayList<>();
  private volatile byte[] request;

  private Served(ServerCall<byte[], byte[]> call, Metadata headers, Consumer<Served> onHalfClose) {
    this.call = call;
    this.headers = headers;
    this.onHalfClose = onHalfClose;
  }

  /** Takes calls, and keeps them for the test to look at. */
  static final class Handler implements ServerCallHandler<byte[], byte[]> {
    private final BlockingQueue<Served> calls = new LinkedBlockingQueue<>();
    private final int requested;
    private final Consumer<Served> onHalfClose;

    /** Asks for the message, and does this when the client has half-closed. */
    Handler(Consumer<Served> onHalfClose) {
      this(2, onHalfClose);
    }

    Handler(int requested, Consumer<Served> onHalfClose) {
      this.requested = requested;
      this.onHalfClose = onHalfClose;
    }

    @Override
    public ServerCall.Listener<byte[]> startCall(
        ServerCall<byte[], byte[]> call, Metadata headers) {
      final Served served = new Served(call, headers, onHalfClose);
      if (requested > 0) {
        call.request(requested);
      }
      calls.add(served);
      return served;
    }

    /** The next call that has come. */
    Served take() throws InterruptedException {
      final Served served = calls.poll(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
      assertNotNull(served, "no call has come");
      return served;
    }

    /** As {@link #take}, or null if none comes in a time. */
    Served poll(long millis) throws InterruptedException {
      return calls.poll(millis, TimeUnit.MILLISECONDS);
    }

    int waiting() {
      return calls.size();
    }
  }

  /** Never answers by itself. */
  static Handler hanging() {
    return new Handler(served -> {});
  }

  /** Answers with a digest of the request. */
  static Handler digesting() {
    return new Handler(served -> served.answer(Bytes.digest(served.request())));
  }

  void answer(byte[] response) {
    answer(new Metadata(), response, Status.OK, new Metadata());
  }

  void answer(Metadata responseHeaders, byte[] response, Status status, Metadata trailers) {
    call.sendHeaders(responseHeaders);
    call.sendMessage(response);
    call.close(status, trailers);
  }

  byte[] request() {
    return request;
  }

  void awaitHalfClose() throws InterruptedException {
    assertTrue(halfClosed.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS), "no onHalfClose");
  }

  /** Awaits onComplete or onCancel; returns which. */
  String awaitEnd() throws InterruptedException {
    assertTrue(ended.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS), "no end: " + events);
    assertEquals(null, wrong.get());
    final List<String> all = events();
    return all.get(all.size() - 1);
  }

  /** Awaits the end of the context, which nothing orders before or after that of the listener. */
  void awaitCancelledContext() throws InterruptedException {
    final CountDownLatch cancelled = new CountDownLatch(1);
    context.addListener(ended -> cancelled.countDown(), Runnable::run);
    assertTrue(cancelled.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS), "the context lives");
  }

  List<String> events() {
    synchronized (events) {
      return List.copyOf(events);
    }
  }

  private void enter(String event) {
    if (!inside.compareAndSet(false, true)) {
      wrong.compareAndSet(null, event + " while another callback runs");
    }
    if (ended.getCount() == 0) {
      wrong.compareAndSet(null, event + " after the end");
    }
    if (Context.current() != context) {
      wrong.compareAndSet(null, event + " in another context");
    }
    synchronized (events) {
      events.add(event);
    }
  }

  private void leave() {
    inside.set(false);
  }

  @Override
  public void onMessage(byte[] message) {
    enter("message");
    request = message;
    leave();
  }

  @Override
  public void onHalfClose() {
    enter("halfClose");
    try {
      onHalfClose.accept(this);
    } finally {
      leave();
      halfClosed.countDown();
    }
  }

  @Override
  public void onCancel() {
    enter("cancel");
    leave();
    ended.countDown();
  }

  @Override
  public void onComplete() {
    enter("complete");
    leave();
    ended.countDown();
  }
}
