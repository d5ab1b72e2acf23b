package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

/** A client's call, and what its listener is told. Fails when two callbacks run at a time. */
class Exchange extends ClientCall.Listener<byte[]> {
  private final ClientCall<byte[], byte[]> call;
  private final AtomicBoolean inside = new AtomicBoolean();
  private final AtomicReference<String> wrong = new AtomicReference<>();
  private final CountDownLatch headersCame = new CountDownLatch(1);
  private final CountDownLatch messageCame = new CountDownLatch(1);
  private final CountDownLatch closed = new CountDownLatch(1);
  private final List<String> events = new ArrayList<>();
  private final List<byte[]> messages = new ArrayList<>();
  private volatile Metadata headers;
  private volatile Metadata trailers;
  private volatile Status status;
  private volatile Thread thread;

  Exchange(Channel channel) {
    this(channel, Bytes.METHOD, CallOptions.DEFAULT);
  }

  Exchange(Channel channel, MethodDescriptor<byte[], byte[]> method, CallOptions options) {
    this.call = channel.newCall(method, options);
  }

  /** What a test does inside callbacks. */
  void inHeaders(Metadata headers) {}

  void inMessage(byte[] message) {}

  void inClose(Status status) {}

  final ClientCall<byte[], byte[]> call() {
    return call;
  }

  final Exchange start() {
    return start(new Metadata());
  }

  final Exchange start(Metadata headers) {
    call.start(this, headers);
    return this;
  }

  /** All of a unary call, as stubs do it. */
  final Exchange send(byte[] request) {
    return send(new Metadata(), request);
  }

  final Exchange send(Metadata headers, byte[] request) {
    start(headers);
    call.request(2);
    call.sendMessage(request);
    call.halfClose();
    return this;
  }

  final Status await() throws InterruptedException {
    assertTrue(closed.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS), "no onClose: " + events);
    assertEquals(null, wrong.get());
    return status;
  }

  final void awaitHeaders() throws InterruptedException {
    assertTrue(headersCame.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS), "no onHeaders");
  }

  final void awaitMessage() throws InterruptedException {
    assertTrue(messageCame.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS), "no onMessage");
  }

  final boolean isClosed() {
    return closed.getCount() == 0;
  }

  /** Awaits the end of a call that is to end well, and returns its response. */
  final byte[] response() throws InterruptedException {
    assertEquals(Status.Code.OK, await().getCode(), () -> status.toString());
    assertEquals(List.of("headers", "message", "close"), events());
    return messages.get(0);
  }

  /** What has come so far; complete when the call has ended. */
  final List<byte[]> messages() {
    return messages;
  }

  final Metadata headers() {
    return headers;
  }

  final Metadata trailers() {
    return trailers;
  }

  /** Thread of the last callback. */
  final Thread thread() {
    return thread;
  }

  final List<String> events() {
    synchronized (events) {
      return List.copyOf(events);
    }
  }

  private void enter(String event) {
    if (!inside.compareAndSet(false, true)) {
      wrong.compareAndSet(null, event + " while another callback runs");
    }
    if (closed.getCount() == 0) {
      wrong.compareAndSet(null, event + " after onClose");
    }
    thread = Thread.currentThread();
    if (event.equals("ready")) {
      return; // when and how often is the transport's business
    }
    synchronized (events) {
      events.add(event);
    }
  }

  private void leave() {
    inside.set(false);
  }

  @Override
  public final void onReady() {
    enter("ready");
    leave();
  }

  @Override
  public final void onHeaders(Metadata headers) {
    enter("headers");
    try {
      this.headers = headers;
      inHeaders(headers);
    } finally {
      leave();
      headersCame.countDown();
    }
  }

  @Override
  public final void onMessage(byte[] message) {
    enter("message");
    try {
      messages.add(message);
      inMessage(message);
    } finally {
      leave();
      messageCame.countDown();
    }
  }

  @Override
  public final void onClose(Status status, Metadata trailers) {
    enter("close");
    try {
      this.status = status;
      this.trailers = trailers;
      inClose(status);
    } finally {
      leave();
      closed.countDown();
    }
  }
}
