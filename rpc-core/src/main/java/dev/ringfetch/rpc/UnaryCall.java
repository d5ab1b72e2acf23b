package dev.ringfetch.rpc;

import dev.ringfetch.call.BareCall;
import dev.ringfetch.call.BlockingStubs;
import dev.ringfetch.call.ClientConnection;
import dev.ringfetch.call.ClientLimits;
import dev.ringfetch.session.poller.Callbacks;
import dev.ringfetch.session.poller.Poller;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * Unary calls of one method whose messages are bytes: what a generated stub, metadata and
 * marshallers allocate is left out, and this object serves one call after the other. To the server
 * they are calls like any other. Made by {@link RingChannel#newUnaryCall}.
 *
 * <p>A call goes this way where a ring stands that has room for it, the request is not one of the
 * long messages ({@link RingChannelBuilder#bulkMemory}), the channel has no interceptors, and the
 * calling thread's {@link Context} is the root. Every other one becomes an ordinary call of the
 * channel, with the channel's executor: the same messages, the same end, over a ring or over gRPC.
 *
 * <p>One call at a time, by one thread at a time, which may be the listener's; {@link #cancel} is
 * for any thread. The end of a call that was {@linkplain #start started} on a ring is told in the
 * one thread that polls for all channels of the process: a listener that takes long holds up them
 * all, until another thread polls in its stead ({@link UnaryListener}).
 */
public final class UnaryCall {
  private static final VarHandle UNDER_WAY;

  static {
    try {
      UNDER_WAY = MethodHandles.lookup().findVarHandle(UnaryCall.class, "underWay", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** No deadline. */
  public static final long NO_TIMEOUT = BareCall.NO_TIMEOUT;

  private final RingChannel channel;
  private final MethodDescriptor<byte[], byte[]> method;
  private final ClientLimits limits;
  private final UnaryListener listener;

  private volatile OnRing onRing; // another one after a cancel
  private volatile ClientCall<byte[], byte[]> other; // that a call has become
  private volatile String cancelReason;

  @SuppressWarnings("unused") // through UNDER_WAY
  private volatile boolean underWay;

  private volatile OnChannel told; // of whose end a thread tells, or null

  private Thread runner; // that waits for the end, or null
  private volatile Runnable delivery; // of an end on the ring, for the runner
  private Queue<Runnable> callbacks; // of another call, for the runner; null: none
  private Status result; // of what the runner has done

  UnaryCall(
      RingChannel channel,
      MethodDescriptor<?, ?> method,
      ClientLimits limits,
      UnaryListener listener) {
    this.channel = channel;
    this.method = ByteMessages.of(method);
    this.limits = limits;
    this.listener = Objects.requireNonNull(listener, "listener");
    this.onRing = new OnRing();
  }

  /**
   * Makes a call, of whose end the listener is told, perhaps before this returns.
   *
   * @param request holds the request message, which is copied.
   * @param offset of the message, in bytes.
   * @param length of the message, in bytes.
   * @param timeoutNs until the call's deadline, or {@link #NO_TIMEOUT}, as is all that is longer
   *     than a century; 0 or less for a call that is late already, and ends DEADLINE_EXCEEDED.
   * @throws IllegalStateException if a call is under way.
   * @throws IndexOutOfBoundsException if the array has not so many bytes there.
   */
  public void start(byte[] request, int offset, int length, long timeoutNs) {
    begin(request, offset, length, null);
    dispatch(request, offset, length, timeoutNs);
  }

  /**
   * Makes a call and waits for its end, of which the listener was told when this returns. The
   * thread polls for the answer for some time, then sleeps, as it does in a blocking stub. Whoever
   * interrupts it cancels the call.
   *
   * @return the status with which the call has ended.
   * @throws IllegalStateException if a call is under way.
   * @throws IndexOutOfBoundsException if the array has not so many bytes there.
   * @throws RuntimeException what the listener has thrown.
   * @see #start
   */
  public Status run(byte[] request, int offset, int length, long timeoutNs) {
    begin(request, offset, length, Thread.currentThread());
    boolean interrupted = false;
    try {
      dispatch(request, offset, length, timeoutNs);
      while (result == null) {
        final Runnable next = takeDelivery();
        if (next != null) {
          next.run();
        } else if (Thread.interrupted()) {
          interrupted = true;
          cancel("Thread interrupted");
        } else {
          LockSupport.park(this);
        }
      }
      return result;
    } finally {
      runner = null;
      underWay = false;
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Ends the call that is under way, if there is one, with the status CANCELLED, of which its
   * listener is told, unless another end was first. Any thread; it is whichever call is under way
   * by then, as the one that was meant may have ended and the next one begun.
   */
  public void cancel(String reason) {
    cancelReason = Objects.requireNonNull(reason, "reason"); // for one that becomes another call
    final ClientCall<byte[], byte[]> call = other;
    if (!onRing.cancelAndTell(reason) && call != null) {
      call.cancel(reason, null);
    }
  }

  private void begin(byte[] request, int offset, int length, Thread waiting) {
    Objects.requireNonNull(request, "request");
    Objects.checkFromIndexSize(offset, length, request.length);
    if (!UNDER_WAY.compareAndSet(this, false, true)) {
      throw new IllegalStateException("a call is under way: method=" + method.getFullMethodName());
    }
    other = null;
    cancelReason = null;
    delivery = null;
    callbacks = null;
    result = null;
    runner = waiting;
  }

  private void dispatch(byte[] request, int offset, int length, long timeoutNs) {
    boolean onItsWay = false;
    final byte[] copy;
    try {
      copy = prepareOnRing(request, offset, length, timeoutNs);
      if (copy != null) {
        becomeOther(copy, timeoutNs);
      }
      onItsWay = true;
    } finally {
      if (!onItsWay && runner == null) { // who calls is told, and nobody else
        underWay = false;
      }
    }
    if (copy == null) {
      onRing.send(runner != null);
    }
  }

  /** Returns null, or the request in an array of its own: no ring takes it. */
  private byte[] prepareOnRing(byte[] request, int offset, int length, long timeoutNs) {
    final ClientConnection ring =
        timeoutNs > 0 && Context.current() == Context.ROOT ? channel.bareRing(method) : null;
    return ring == null
        ? Arrays.copyOfRange(request, offset, offset + length)
        : onRing.prepare(ring, request, offset, length, timeoutNs);
  }

  /** Goes on as an ordinary call. */
  private void becomeOther(byte[] request, long timeoutNs) {
    ClientCall<byte[], byte[]> call = null;
    final OnChannel onChannel = new OnChannel();
    try {
      call = channel.newCall(method, options(timeoutNs));
      onChannel.call = call;
      call.start(onChannel, new Metadata());
    } catch (Throwable t) { // an interceptor's
      if (call != null) {
        call.cancel("Failed to start the call", t);
      }
      new OnChannel().notStarted(Status.fromThrowable(t)); // whatever comes of the other
      return;
    }
    try {
      call.request(2); // a second message is one too many
      call.sendMessage(request);
      call.halfClose();
    } catch (Throwable t) {
      call.cancel("Failed to send the request", t);
    }
    other = call;
    final String reason = cancelReason;
    if (reason != null) {
      call.cancel(reason, null);
    }
    onChannel.sentOrClosed(); // the call is its own from here on
  }

  /** A runner waits as a blocking stub does: it polls, and callbacks are its own to run. */
  private CallOptions options(long timeoutNs) {
    final CallOptions options =
        timeoutNs == NO_TIMEOUT
            ? CallOptions.DEFAULT
            : CallOptions.DEFAULT.withDeadlineAfter(timeoutNs, TimeUnit.NANOSECONDS);
    final Thread waiting = runner;
    if (waiting == null) {
      return options;
    }
    final Queue<Runnable> queue = new ConcurrentLinkedQueue<>();
    callbacks = queue;
    return BlockingStubs.blocking(options)
        .withExecutor(
            task -> {
              queue.add(task);
              LockSupport.unpark(waiting);
            });
  }

  private Runnable takeDelivery() {
    final Runnable next = delivery;
    if (next != null) {
      delivery = null;
      return next;
    }
    return callbacks == null ? null : callbacks.poll();
  }

  /**
   * Has an end on the ring told, by the runner or in the poller's thread: not on the stack of who
   * has found it, as a listener may wait for the end of another call.
   */
  private void deliverLater(Poller poller, Runnable told) {
    final Thread waiting = runner;
    if (waiting == null) {
      try {
        poller.execute(told);
      } catch (OutOfMemoryError e) { // no place in the poller's line: here, or nobody is told
        told.run();
      }
      return;
    }
    delivery = told;
    if (waiting != Thread.currentThread()) {
      LockSupport.unpark(waiting);
    }
  }

  private void succeed(byte[] array, int offset, int length) {
    end(Status.OK);
    listener.onAnswer(this, array, offset, length);
  }

  private void fail(Status status, Metadata trailers) {
    end(status);
    listener.onFailure(this, status, trailers);
  }

  private void end(Status status) {
    result = status;
    if (runner == null) {
      underWay = false; // a listener may start the next call
    }
  }

  @Override
  public String toString() {
    return "UnaryCall[" + method.getFullMethodName() + ", under way: " + underWay + "]";
  }

  /** What calls go by where nothing but a ring is needed. */
  private final class OnRing extends BareCall {
    private OnChannel continuation; // of an answer in several units

    OnRing() {
      super(method, limits);
    }

    @Override
    protected void begins() {
      channel.countRingCall();
      final String reason = cancelReason;
      if (reason != null) { // who cancelled found no call that was sent
        final boolean unused = cancelAndTell(reason);
      }
    }

    /** It is told in the runner's thread, or the poller's, as a task: nobody's context is there. */
    @Override
    protected void ended() {
      deliverLater(poller(), this);
    }

    Status deadlineStatus() {
      return exceeded();
    }

    /** Cancels the call under way, and has that told; false if there is none. */
    boolean cancelAndTell(String reason) {
      if (!isSent()) {
        return false;
      }
      // All that it takes first: once it is cancelled, nobody else tells its end.
      final OnRing next = new OnRing();
      final CancelledEnd end = new CancelledEnd(this, Status.CANCELLED.withDescription(reason));
      if (!cancel()) {
        return false;
      }
      onRing = next;
      end.late = isLate(); // as of the call that was cancelled, which may not be the one of before
      deliverLater(poller(), end);
      return true;
    }

    @Override
    protected ClientCall.Listener<byte[]> continuationListener() {
      continuation = new OnChannel();
      return continuation;
    }

    @Override
    protected void continued(ClientCall<byte[], byte[]> call) {
      continuation.call = call;
      onRing = new OnRing(); // this one makes no other call
      other = call;
      call.request(2);
      final String reason = cancelReason;
      if (reason != null) {
        call.cancel(reason, null);
      }
      continuation.sentOrClosed(); // last: its listener may start the next call
    }

    @Override
    protected void answered(byte[] array, int offset, int length) {
      succeed(array, offset, length);
    }

    @Override
    protected void failed(Status status, Metadata trailers) {
      fail(status, trailers);
    }

    @Override
    protected void unsent(byte[] request, long remainingNs) {
      channel.countRepeatedCall();
      becomeOther(request, remainingNs);
    }
  }

  /** Tells the end of a call on the ring that was cancelled, unless its deadline was first. */
  private final class CancelledEnd implements Runnable {
    private final OnRing call; // which makes no other one
    private final Status status;
    private final Metadata trailers = new Metadata();
    private boolean late;

    CancelledEnd(OnRing call, Status status) {
      this.call = call;
      this.status = status;
    }

    @Override
    public void run() {
      fail(late ? call.deadlineStatus() : status, trailers);
    }
  }

  /** What a call of the channel says. */
  private final class OnChannel extends ClientCall.Listener<byte[]> {
    private final AtomicBoolean awaited = new AtomicBoolean(); // the one that comes last
    private ClientCall<byte[], byte[]> call;
    private byte[] message;
    private boolean tooMany;
    private Status status;
    private Metadata trailers;
    private Thread teller; // of its end
    private OnChannel next; // whose end that thread tells then

    @Override
    public void onMessage(byte[] received) {
      tooMany = message != null;
      message = received;
      if (tooMany) {
        call.cancel(BareCall.TOO_MANY_ANSWERS.getDescription(), null);
      }
    }

    @Override
    public void onClose(Status end, Metadata with) {
      status = end;
      trailers = with;
      sentOrClosed();
    }

    /** There will be no end but this one. */
    void notStarted(Status why) {
      status = why;
      trailers = new Metadata();
      end();
    }

    /** Tells the end once it has come and the call is sent: a listener may start the next one. */
    void sentOrClosed() {
      if (!awaited.compareAndSet(false, true)) {
        end();
      }
    }

    private void end() {
      final Thread waiting = runner;
      if (waiting
          != null) { // often its thread, in a callback: what a listener throws would be lost
        delivery = this::tell;
        if (waiting != Thread.currentThread()) {
          LockSupport.unpark(waiting);
        }
        return;
      }
      final OnChannel before = told;
      if (before != null && before.teller == Thread.currentThread()) { // on a listener's stack
        before.next = this;
      } else {
        tellAll();
      }
    }

    /**
     * Tells this end, then that of the next call if it has ended as soon as it began, and so on.
     */
    private void tellAll() {
      OnChannel ended = this;
      while (ended != null) {
        ended.teller = Thread.currentThread();
        told = ended;
        try {
          ended.tell();
        } catch (Throwable t) { // the listener's, not that of who starts the call or ends it
          Callbacks.report(t);
        }
        told = null;
        ended = ended.next;
      }
    }

    private void tell() {
      if (tooMany) {
        fail(BareCall.TOO_MANY_ANSWERS, trailers);
      } else if (!status.isOk()) {
        fail(status, trailers);
      } else if (message == null) {
        fail(BareCall.NO_ANSWER, trailers);
      } else {
        succeed(message, 0, message.length);
      }
    }
  }
}
