package dev.ringfetch.call;

import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.DEADLINE;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.METADATA;
import static dev.ringfetch.ring.FrameDescriptor.NAMED;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;

import dev.ringfetch.session.ClientSession;
import dev.ringfetch.session.ClientStream;
import dev.ringfetch.session.UnitBuffer;
import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * A unary call over a ring: the request leaves as one unit when the client half-closes, the
 * response comes as one unit. The only object that a small call allocates; it is its own task on
 * the call's executor and its own listener at the session.
 *
 * <p>{@link #outcome} decides, once, which end counts: the answer, the deadline, a cancel, the loss
 * of the session. Whoever loses does nothing but what the stream's life needs.
 *
 * @param <ReqT> type of the request.
 * @param <RespT> type of the response.
 */
public class UnaryClientCall<ReqT, RespT> extends ClientCall<ReqT, RespT>
    implements ClientStream.Listener, Runnable {
  private static final VarHandle OUTCOME;
  private static final VarHandle SIGNALS;
  private static final VarHandle REQUESTED;

  static {
    try {
      final MethodHandles.Lookup lookup = MethodHandles.lookup();
      OUTCOME = lookup.findVarHandle(UnaryClientCall.class, "outcome", int.class);
      SIGNALS = lookup.findVarHandle(UnaryClientCall.class, "signals", int.class);
      REQUESTED = lookup.findVarHandle(UnaryClientCall.class, "requested", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  // What became of the call. Before SENT nobody else knows the stream; from ANSWERED on it is the
  // call's alone, and the call's task gives it back, also when a cancel counted after all.
  private static final int OPEN = 0;
  private static final int SENT = 1;
  private static final int ANSWERED = 2;
  private static final int FAILED = 3;
  private static final int ANSWERED_THEN_FAILED = 4;

  // Why the call's task runs.
  private static final int RUNNING = 1;
  private static final int DELIVER = 2;

  private final MethodDescriptor<ReqT, RespT> method;
  private final CallOptions options;
  private final Executor executor;
  private final Context context = Context.current();

  private ClientConnection connection;
  private ClientLimits limits;
  private Listener<RespT> listener;
  private Metadata headers;
  private ReqT request;
  private boolean hasRequest;
  private boolean halfClosed;
  private Deadline deadline;
  private long startedNs;
  private Context.CancellationListener contextListener;

  private ClientStream stream;
  private boolean responseRead;
  private int messageOffset;
  private int messageLength;
  private Status status;
  private Metadata trailers;
  private boolean closed;

  @SuppressWarnings("unused") // through OUTCOME
  private volatile int outcome;

  @SuppressWarnings("unused") // through SIGNALS
  private volatile int signals;

  @SuppressWarnings("unused") // through REQUESTED
  private volatile int requested;

  private volatile Status failure;

  /**
   * Creates a call.
   *
   * @param executor that runs the listener.
   */
  protected UnaryClientCall(
      MethodDescriptor<ReqT, RespT> method, CallOptions options, Executor executor) {
    this.method = method;
    this.options = options;
    this.executor = executor;
  }

  /** The method. */
  protected final MethodDescriptor<ReqT, RespT> method() {
    return method;
  }

  /** The options. */
  protected final CallOptions options() {
    return options;
  }

  /**
   * Starts the call on a connection.
   *
   * @throws IllegalStateException when it was started before.
   */
  protected final void start(
      Listener<RespT> listener,
      Metadata headers,
      ClientConnection connection,
      ClientLimits limits) {
    this.listener = listener;
    this.headers = headers;
    this.connection = connection;
    this.limits = limits;
    if (context.isCancelled()) {
      fail(OPEN, Contexts.statusFromCancelled(context));
      return;
    }
    deadline = Deadlines.effective(options, context);
    if (deadline != null) {
      startedNs = System.nanoTime();
      if (deadline.isExpired()) {
        fail(OPEN, Deadlines.startedLate(deadline, options));
        return;
      }
      if (!BlockingStubs.isStub(options)) { // it may never half-close: no stream, no deadline there
        CompletableFuture.delayedExecutor(
                deadline.timeRemaining(TimeUnit.NANOSECONDS), TimeUnit.NANOSECONDS)
            .execute(() -> fail(OPEN, exceeded()));
      }
    }
    if (context != Context.ROOT) {
      contextListener = cancelled -> cancelNow(Contexts.statusFromCancelled(cancelled));
      context.addListener(contextListener, DirectExecutor.INSTANCE);
    }
  }

  @Override
  public void start(Listener<RespT> responseListener, Metadata headers) {
    throw new UnsupportedOperationException("who extends this chooses a connection");
  }

  @Override
  public void request(int numMessages) {
    if (numMessages < 0) {
      throw new IllegalArgumentException("numMessages=" + numMessages);
    }
    final int before = (int) REQUESTED.getAndAdd(this, numMessages);
    if (before == 0 && numMessages > 0 && outcome >= ANSWERED) {
      signal();
    } else if (before + numMessages < 0) {
      REQUESTED.setVolatile(this, Integer.MAX_VALUE);
    }
  }

  @Override
  public void sendMessage(ReqT message) {
    if (halfClosed) {
      throw new IllegalStateException("call was half-closed");
    }
    if (hasRequest) {
      fail(
          OPEN,
          Status.INTERNAL.withDescription("Too many requests: a unary call sends one message"));
      return;
    }
    request = message;
    hasRequest = true;
  }

  @Override
  public void halfClose() {
    if (halfClosed) {
      throw new IllegalStateException("call already half-closed");
    }
    halfClosed = true;
    if (outcome != OPEN) {
      return;
    }
    final ClientSession session = connection.session();
    final ClientStream opened = session.open();
    if (opened == null) {
      unsent("as many calls are under way on the ring as there can be");
      return;
    }
    try {
      prepare(session, opened);
    } catch (IOException | RuntimeException e) {
      session.recycle(opened);
      fail(OPEN, Status.CANCELLED.withDescription("Failed to stream message").withCause(e));
      return;
    } catch (Error e) {
      session.recycle(opened);
      fail(
          OPEN,
          Status.CANCELLED.withDescription("Client sendMessage() failed with Error").withCause(e));
      throw e;
    }
    stream = opened;
    if (!OUTCOME.compareAndSet(this, OPEN, SENT)) {
      session.recycle(opened);
    } else if (BlockingStubs.mayPoll(options)) {
      session.sendAndPoll(opened);
    } else {
      session.send(opened);
    }
  }

  private void prepare(ClientSession session, ClientStream opened) throws IOException {
    final UnitBuffer unit = opened.outbound();
    int flags = PREFIX | SUFFIX;
    long deadlineNs = ClientStream.NO_DEADLINE;
    if (deadline != null) {
      final long remainingNs = deadline.timeRemaining(TimeUnit.NANOSECONDS);
      deadlineNs = session.nanoTime() + remainingNs;
      unit.addLong(remainingNs);
      flags |= DEADLINE;
    }
    int methodId = connection.methodId(method.getFullMethodName());
    if (methodId == ClientConnection.NO_METHOD_ID) {
      final byte[] name = method.getFullMethodName().getBytes(StandardCharsets.UTF_8);
      unit.addShort(name.length);
      unit.addBytes(name, 0, name.length);
      flags |= NAMED;
      methodId = 0;
    }
    if (!Sections.isEmpty(headers)) {
      Sections.addMetadata(unit, headers);
      flags |= METADATA;
    }
    if (hasRequest) {
      final Integer maxLength = options.getMaxOutboundMessageSize();
      Messages.write(
          method.streamRequest(request), unit, maxLength == null ? Integer.MAX_VALUE : maxLength);
      flags |= MESSAGE;
    }
    opened.prepare(this, flags, methodId, deadlineNs, limits.maxUnitLength());
  }

  @Override
  public void cancel(String message, Throwable cause) {
    Status status = Status.CANCELLED;
    status = status.withDescription(message != null ? message : "Call cancelled without message");
    cancelNow(cause == null ? status : status.withCause(cause));
  }

  private void cancelNow(Status status) {
    final Status counts =
        deadline != null && deadline.isExpired() && status.getCode() == Status.Code.CANCELLED
            ? exceeded()
            : status;
    for (; ; ) {
      final int before = outcome;
      if (before >= FAILED) {
        return;
      }
      if (!fail(before, counts)) {
        continue;
      }
      if (before == SENT) {
        connection.session().cancel(stream);
      }
      return;
    }
  }

  /** Ends the call, if its state is still as expected. */
  private boolean fail(int expected, Status status) {
    final int failed = expected == ANSWERED ? ANSWERED_THEN_FAILED : FAILED;
    if (!OUTCOME.compareAndSet(this, expected, failed)) {
      return false;
    }
    failure = status;
    signal();
    return true;
  }

  private Status exceeded() {
    return Deadlines.exceeded(deadline, options, startedNs, connection.session().describe());
  }

  @Override
  public boolean isReady() {
    return listener != null && !halfClosed && outcome == OPEN;
  }

  @Override
  public void setMessageCompression(boolean enabled) {
    // Nothing is compressed: memory is not a wire.
  }

  @Override
  public Attributes getAttributes() {
    return connection == null ? Attributes.EMPTY : connection.attributes();
  }

  @Override
  public final void onClosed(ClientSession session, ClientStream ended, ClientStream.Outcome how) {
    switch (how) {
      case ANSWERED -> {
        if (OUTCOME.compareAndSet(this, SENT, ANSWERED)) {
          signal();
        } else {
          session.release(ended, true);
        }
      }
      case DEADLINE_EXCEEDED -> {
        final boolean counted = fail(SENT, exceeded());
        session.release(ended, !counted);
      }
      case NOT_SENT -> {
        if (OUTCOME.compareAndSet(this, SENT, OPEN)) {
          unsent(session.endReason());
        }
      }
      case SESSION_ENDED ->
          fail(
              SENT,
              deadline != null && deadline.isExpired()
                  ? exceeded()
                  : Status.UNAVAILABLE.withDescription(
                      "ring session ended: " + session.endReason()));
    }
  }

  /**
   * The server cannot have seen the request; nothing was told to the listener. Ends the call with
   * UNAVAILABLE unless overridden.
   */
  protected void unsent(String reason) {
    fail(OPEN, Status.UNAVAILABLE.withDescription("ring is not available: " + reason));
  }

  /** Gives the call up so that another transport can take it. False when it has ended meanwhile. */
  protected final boolean giveUp() {
    if (!OUTCOME.compareAndSet(this, OPEN, FAILED)) {
      return false;
    }
    removeContextListener();
    return true;
  }

  /** Replays what was asked of this call on another one, which was not started yet. */
  protected final void replayOn(ClientCall<ReqT, RespT> other) {
    other.start(listener, headers);
    final int messages = requested;
    if (messages > 0) {
      other.request(messages);
    }
    if (hasRequest) {
      other.sendMessage(request);
    }
    if (halfClosed) {
      other.halfClose();
    }
  }

  private void signal() {
    if (((int) SIGNALS.getAndBitwiseOr(this, RUNNING | DELIVER) & RUNNING) != 0) {
      return;
    }
    if (executor == DirectExecutor.INSTANCE && connection != null) {
      connection.session().poller().execute(this);
    } else {
      executor.execute(this);
    }
  }

  /** Runs the listener; of one call's tasks only one at a time. */
  @Override
  public final void run() {
    final Context before = context.attach();
    try {
      do {
        while (((int) SIGNALS.getAndBitwiseAnd(this, RUNNING) & DELIVER) != 0) {
          deliver();
        }
      } while (!SIGNALS.compareAndSet(this, RUNNING, 0));
    } finally {
      context.detach(before);
    }
  }

  private void deliver() {
    if (closed) {
      return;
    }
    if (outcome == ANSWERED) {
      deliverAnswer();
    }
    if (failure != null && !closed) {
      if (outcome == ANSWERED_THEN_FAILED) {
        connection.session().recycle(stream);
      }
      close(failure, new Metadata());
    }
  }

  private void deliverAnswer() {
    if (!responseRead) {
      responseRead = true;
      if (!readResponse()) {
        return;
      }
    }
    if (messageLength >= 0) {
      if (requested == 0) {
        return; // the listener has to ask first
      }
      if (!deliverMessage()) {
        return;
      }
      messageLength = -1;
    }
    if (OUTCOME.compareAndSet(this, ANSWERED, FAILED)) {
      connection.session().recycle(stream);
      close(status, trailers);
    }
  }

  /** Almost every response has a message, the status OK and no sections: it takes no Response. */
  private boolean readResponse() {
    if (stream.inboundFlags() == (PREFIX | MESSAGE | SUFFIX)
        && stream.inboundCode() == 0
        && !stream.inboundDiscarded()
        && stream.inbound().length() <= limits.maxInboundMessageLength()) {
      messageOffset = stream.inbound().offset();
      messageLength = stream.inbound().length();
      status = Status.OK;
      trailers = new Metadata();
      return deliverHeaders(new Metadata());
    }
    final Response response = Response.read(stream, limits);
    messageOffset = response.messageOffset;
    messageLength = response.messageLength;
    final boolean late = isLate(response.status);
    status = late ? exceeded() : response.status;
    trailers = late ? new Metadata() : response.trailers;
    return response.headers == null || deliverHeaders(response.headers);
  }

  /** True when the server's end of the call has noticed first that its deadline has passed. */
  private boolean isLate(Status received) {
    return switch (received.getCode()) {
      case DEADLINE_EXCEEDED -> deadline != null && (stream.inboundFlags() & CLOSE) != 0;
      case CANCELLED -> deadline != null && deadline.isExpired();
      default -> false;
    };
  }

  private boolean deliverHeaders(Metadata received) {
    try {
      listener.onHeaders(received);
      return true;
    } catch (Throwable t) {
      return failedIn("Failed to read headers", t);
    }
  }

  private boolean deliverMessage() {
    try (MessageInput input =
        new MessageInput(stream.inbound().array(), messageOffset, messageLength)) {
      listener.onMessage(method.parseResponse(input));
      return true;
    } catch (Throwable t) {
      return failedIn("Failed to read message.", t);
    }
  }

  private boolean failedIn(String what, Throwable t) {
    fail(ANSWERED, Status.CANCELLED.withDescription(what).withCause(t));
    return false;
  }

  private void close(Status status, Metadata trailers) {
    closed = true;
    request = null;
    removeContextListener();
    try {
      listener.onClose(status, trailers);
    } catch (RuntimeException e) {
      System.getLogger(UnaryClientCall.class.getName())
          .log(System.Logger.Level.WARNING, "onClose of " + method.getFullMethodName(), e);
    }
  }

  private void removeContextListener() {
    if (contextListener != null) {
      context.removeListener(contextListener);
    }
  }
}
