package dev.ringfetch.rpc;

import dev.ringfetch.call.BareCall;
import dev.ringfetch.call.BlockingStubs;
import dev.ringfetch.call.ClientConnection;
import dev.ringfetch.call.ClientLimits;
import dev.ringfetch.session.owner.SharedField;
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
 * A reusable call of a unary method with messages that are plain bytes: it makes one call after the
 * other, without the allocations of stubs, metadata and marshallers. To the server they are calls
 * like any other. Created by {@link RingChannel#newUnaryCall}.
 *
 * <p>A call goes this way where a ring is open and has room for it, the request is not one of the
 * long messages ({@link RingChannelBuilder#bulkMemory}), the channel has no interceptors, and the
 * calling thread's {@link Context} is the root. Every other one becomes an ordinary call of the
 * channel, with the channel's executor: the same messages, the same end, over a ring or over gRPC.
 *
 * <p>Used for one call at a time, by one thread at a time, which may be the listener's; {@link
 * #cancel} may be called on any thread. The listener of a call that was {@linkplain #start started}
 * on a ring runs on the one thread that polls for all channels of the process: a listener that
 * takes long delays them all, until a backup thread polls instead ({@link UnaryListener}).
 */
public final class UnaryCall {
  private static final VarHandle UNDER_WAY =
      SharedField.of(MethodHandles.lookup(), "underWay", boolean.class);

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

  private volatile OnChannel told; // the call with an end that a thread is reporting, or null

  private Thread runner; // that waits for the end, or null
  private volatile Runnable delivery; // of an end on the ring, for the runner
  private Queue<Runnable> callbacks; // of another call, for the runner; null: none
  private Status result; // of what the runner has done
  private Pick pick; // null: the call that this one becomes makes its own

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
   * Starts a call; the listener gets its end, perhaps before this method returns.
   *
   * @param request holds the request message, which is copied.
   * @param offset of the message, in bytes.
   * @param length of the message, in bytes.
   * @param timeoutNs until the call's deadline, or {@link #NO_TIMEOUT}, which is also the meaning
   *     of anything longer than a century; a call with 0 or less ends DEADLINE_EXCEEDED.
   * @throws IllegalStateException if a call is under way.
   * @throws IndexOutOfBoundsException if the array has not so many bytes there.
   */
  public void start(byte[] request, int offset, int length, long timeoutNs) {
    begin(request, offset, length, null);
    dispatch(request, offset, length, timeoutNs);
  }

  /**
   * Makes a call and waits for its end; the listener has got the end when this method returns. The
   * thread polls for the answer for some time, then sleeps, as in a blocking stub. An interrupt of
   * the thread cancels the call.
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
   * Ends the call that is under way, if there is one, with the status CANCELLED, and tells its
   * listener, unless another end was first. Any thread. Cancels the call that is under way at that
   * moment: the intended one may have ended and the next one begun.
   */
  public void cancel(String reason) {
    cancelReason = Objects.requireNonNull(reason, "reason"); // for a call that becomes another one
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
      if (!onItsWay && runner == null) { // then the calling thread reports the end
        underWay = false;
      }
    }
    if (copy == null) {
      onRing.send(runner != null);
    }
  }

  /**
   * Prepares the call on a ring and returns null; without one, returns the request in an own array.
   */
  private byte[] prepareOnRing(byte[] request, int offset, int length, long timeoutNs) {
    pick = timeoutNs > 0 && Context.current() == Context.ROOT ? channel.barePick(method) : null;
    final ClientConnection ring = pick == null ? null : pick.bareRing(method);
    return ring == null
        ? Arrays.copyOfRange(request, offset, offset + length)
        : onRing.prepare(ring, request, offset, length, timeoutNs);
  }

  /** Continues as an ordinary call. */
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
    final CallOptions picked =
        pick == null ? CallOptions.DEFAULT : CallOptions.DEFAULT.withOption(Pick.PICK, pick);
    final CallOptions options =
        timeoutNs == NO_TIMEOUT
            ? picked
            : picked.withDeadlineAfter(timeoutNs, TimeUnit.NANOSECONDS);
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
   * Schedules the report of an end on the ring, by the runner or on the poller's thread: not on the
   * stack of the thread that has found it, because a listener may wait for the end of another call.
   */
  private void deliverLater(Poller poller, Runnable told) {
    final Thread waiting = runner;
    if (waiting == null) {
      try {
        poller.execute(told);
      } catch (OutOfMemoryError e) { // no room in the poller's queue: report here, or never
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

  /** The part of the call that uses a ring directly. */
  private final class OnRing extends BareCall {
    private OnChannel continuation; // of an answer in several units

    OnRing() {
      super(method, limits);
    }

    @Override
    protected void begins() {
      channel.life().countRingCall();
      pick.onUsed();
      final String reason = cancelReason;
      if (reason != null) { // the cancelling thread found no call that was sent
        final boolean unused = cancelAndTell(reason);
      }
    }

    /**
     * Reports the end as a task on the runner's or the poller's thread, where no context is
     * current.
     */
    @Override
    protected void ended() {
      deliverLater(poller(), this);
    }

    Status deadlineStatus() {
      return exceeded();
    }

    /** Cancels the call under way and schedules the report of that; false if there is none. */
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
      channel.life().countRepeatedCall();
      pick = null; // it may have gone with the ring
      becomeOther(request, remainingNs);
    }
  }

  /** Task that reports the end of a cancelled call on the ring, unless its deadline was first. */
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

  /** The listener of an ordinary call of the channel. */
  private final class OnChannel extends ClientCall.Listener<byte[]> {
    private final AtomicBoolean awaited = new AtomicBoolean(); // the one that comes last
    private ClientCall<byte[], byte[]> call;
    private byte[] message;
    private boolean tooMany;
    private Status status;
    private Metadata trailers;
    private Thread teller; // of its end
    private OnChannel next; // the call that the thread reports next

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

    /** Reports the end of a call that could not be started. */
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
        } catch (Throwable t) {
          // the listener's exception, which does not concern the thread that starts or ends the
          // call
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
