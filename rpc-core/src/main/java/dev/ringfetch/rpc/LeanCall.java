package dev.ringfetch.rpc;

import dev.ringfetch.session.owner.SharedField;
import io.grpc.Attributes;
import io.grpc.Metadata;
import io.grpc.Status;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;

/**
 * A call at its server, as a {@link LeanHandler} gets it. It has one end: the first of {@link
 * #answer} and {@link #fail}.
 *
 * <p>The object is reused. It may be used by the thread that runs the handler until the handler
 * returns; afterwards, and on other threads, its methods throw {@link IllegalStateException}.
 * {@link #detach} returns another object for an end that comes later, on any thread.
 */
@Experimental
public final class LeanCall {
  /** No deadline. */
  public static final long NO_TIMEOUT = UnaryCall.NO_TIMEOUT;

  private static final Status FAILED =
      Status.UNKNOWN.withDescription("Application error processing RPC");

  private static final VarHandle STATE =
      SharedField.of(MethodHandles.lookup(), "state", State.class);

  /** The life of a call from the start of its handler on. */
  private enum State {
    /** It has no end yet. */
    OPEN,
    /** It has its end. */
    ANSWERED,
    /** Another object stands for it. */
    DETACHED
  }

  /** The transport's side of a call. It takes one end. */
  interface Target {
    /** Keeps a copy of an answer, in place of an earlier one. */
    void put(byte[] message, int offset, int length);

    /** Keeps an error in the place of an answer. */
    void putFailure(Status status, Metadata trailers);

    /** Sends what was put, unless the call was cancelled. */
    void send();

    /** Returns the target of the same call for any thread. */
    Target detach();

    boolean isCancelled();

    long remainingNs();

    boolean mayHaveOwnHeaders();

    Metadata headers();

    Attributes attributes();

    /** The full name of the method. */
    String method();
  }

  private final Target target;
  private final boolean isDetached;
  private Thread runner; // of the handler; null: it has returned
  private LeanCall later; // that was detached in this run
  private State state = State.OPEN; // of a detached call through STATE

  private LeanCall(Target target, boolean isDetached) {
    this.target = target;
    this.isDetached = isDetached;
  }

  LeanCall(Target target) {
    this(target, false);
  }

  /**
   * Ends the call with an answer and the status OK. The answer leaves when the handler returns, and
   * that of a detached call at once. It is dropped if the call was cancelled.
   *
   * @param message contains the response message, which is copied.
   * @param offset of the message, in bytes.
   * @param length of the message, in bytes.
   * @throws IllegalStateException if the call has its end.
   * @throws IndexOutOfBoundsException if the array has not so many bytes there.
   */
  public void answer(byte[] message, int offset, int length) {
    Objects.checkFromIndexSize(offset, length, message.length);
    checkOpen();
    target.put(message, offset, length);
    ended();
  }

  /**
   * Ends the call with an error. It leaves as an answer does.
   *
   * @param status why; not OK.
   * @param trailers for the client, perhaps empty.
   * @throws IllegalArgumentException if the status is OK.
   * @throws IllegalStateException if the call has its end.
   */
  public void fail(Status status, Metadata trailers) {
    if (status.isOk()) {
      throw new IllegalArgumentException("status=" + status);
    }
    Objects.requireNonNull(trailers, "trailers");
    checkOpen();
    target.putFailure(status, trailers);
    ended();
  }

  /**
   * Returns an object for the same call that any thread may use, one at a time, also after the
   * handler has returned. This object cannot be used any more, nor the request's array. Unlike a
   * call that is answered in its handler, this one allocates.
   *
   * <p>A detached call that gets no end ends at its deadline, or when the client cancels it.
   *
   * @throws IllegalStateException if the call has its end, or was detached.
   */
  public LeanCall detach() {
    if (isDetached) {
      throw new IllegalStateException("the call is detached: method=" + target.method());
    }
    checkOpen();
    later = new LeanCall(target.detach(), true);
    state = State.DETACHED;
    return later;
  }

  /** True when the client does not wait any more: it has cancelled, or its deadline has passed. */
  public boolean isCancelled() {
    checkUsable();
    return target.isCancelled();
  }

  /** Time until the deadline in nanoseconds, perhaps negative, or {@link #NO_TIMEOUT}. */
  public long remainingNs() {
    checkUsable();
    return target.remainingNs();
  }

  /**
   * Whether the request may have headers of its own. If not, it has those of the ring's session
   * alone, which are the same for all calls with this instance of {@link #attributes}.
   */
  public boolean mayHaveOwnHeaders() {
    checkUsable();
    return target.mayHaveOwnHeaders();
  }

  /** The headers of the request. On a ring each invocation creates them. */
  public Metadata headers() {
    checkUsable();
    return target.headers();
  }

  /** The attributes of the connection, as of {@link io.grpc.ServerCall#getAttributes}. */
  public Attributes attributes() {
    checkUsable();
    return target.attributes();
  }

  private void checkUsable() {
    if (!isDetached && (runner != Thread.currentThread() || state == State.DETACHED)) {
      throw new IllegalStateException(
          "the call is used after its handler has returned, after detach(), or by another thread:"
              + " method="
              + target.method());
    }
  }

  /** Checks that there is no end yet. A detached call has one from here on. */
  private void checkOpen() {
    checkUsable();
    if (isDetached ? !STATE.compareAndSet(this, State.OPEN, State.ANSWERED) : state != State.OPEN) {
      throw new IllegalStateException("the call has its end: method=" + target.method());
    }
  }

  private void ended() {
    if (isDetached) {
      target.send();
    } else {
      state = State.ANSWERED;
    }
  }

  /**
   * Runs a handler, and sends the end that it has given the call.
   *
   * @return false if it has declined the call.
   */
  boolean serve(LeanHandler handler, byte[] request, int offset, int length) {
    runner = Thread.currentThread();
    state = State.OPEN;
    boolean taken = true;
    Status failure = null;
    try {
      taken = handler.onRequest(this, request, offset, length);
      if (taken == (state == State.OPEN)) {
        failure =
            Status.INTERNAL.withDescription(
                "the handler has returned " + taken + " with the call " + state);
      }
    } catch (Throwable t) {
      failure = FAILED;
      System.getLogger(LeanCall.class.getName())
          .log(System.Logger.Level.WARNING, "handler of " + target.method(), t);
    }
    final LeanCall detached = later;
    runner = null;
    later = null;
    if (failure == null && !taken) {
      return false;
    }
    if (detached != null) {
      detached.failInstead(failure);
    } else { // last: the object may serve another call then
      if (failure != null) {
        target.putFailure(failure, new Metadata());
      }
      target.send();
    }
    return true;
  }

  private void failInstead(Status failure) {
    if (failure != null && STATE.compareAndSet(this, State.OPEN, State.ANSWERED)) {
      target.putFailure(failure, new Metadata());
      target.send();
    }
  }
}
