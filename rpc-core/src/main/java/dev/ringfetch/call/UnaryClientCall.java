package dev.ringfetch.call;

import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.COMPRESSED;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;

import dev.ringfetch.ring.ProcessTime;
import dev.ringfetch.session.ClientSession;
import dev.ringfetch.session.ClientStream;
import dev.ringfetch.session.owner.SharedField;
import dev.ringfetch.session.unit.UnitBuffer;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * A unary call over a ring: the request leaves as one unit when the client half-closes, the
 * response comes as one unit. The only object that a small call allocates; it is its own task on
 * the call's executor and its own listener at the session.
 *
 * <p>The call counts messages, and does not trust the method's type, because the server's
 * descriptor may differ from the client's: a response of several units is delivered by a {@link
 * StreamingClientCall}, which takes the stream over, and a second request message turns this call
 * into another one.
 *
 * <p>{@link #outcome} decides, once, which end counts: the answer, the deadline, a cancel, the loss
 * of the session. The other ends only release the stream.
 *
 * @param <ReqT> type of the request.
 * @param <RespT> type of the response.
 */
public class UnaryClientCall<ReqT, RespT> extends OutgoingCall<ReqT, RespT>
    implements ClientStream.AnswerListener {
  private static final VarHandle OUTCOME =
      SharedField.of(MethodHandles.lookup(), "outcome", int.class);

  // The outcome of the call. Before SENT no other thread knows the stream; from ANSWERED on only
  // the call uses it, and the call's task gives it back, even if a cancel decided the end.
  private static final int OPEN = 0;
  private static final int SENT = 1;
  private static final int ANSWERED = 2;
  private static final int FAILED = 3;
  private static final int ANSWERED_THEN_FAILED = 4;
  private static final int CONTINUED = 5; // another call owns the stream

  private Listener<RespT> listener;
  private Metadata headers;
  private ReqT request;
  private boolean hasRequest;
  private boolean halfClosed;
  private ClientStream stream;
  private boolean responseRead;
  private int messageOffset;
  private int messageLength;
  private Response response; // null: the status is OK, and there are no sections
  private boolean closed;

  @SuppressWarnings("unused") // through OUTCOME
  private volatile int outcome;

  private volatile Status failure;
  private volatile boolean rejected;
  private volatile StreamingClientCall<ReqT, RespT> continuation; // of a response in several units

  /**
   * Creates a call.
   *
   * @param executor that runs the listener.
   */
  protected UnaryClientCall(
      MethodDescriptor<ReqT, RespT> method, CallOptions options, Executor executor) {
    super(method, options, executor);
  }

  /** The method. */
  public final MethodDescriptor<ReqT, RespT> method() {
    return method;
  }

  /** The options. */
  public final CallOptions options() {
    return options;
  }

  /** Sets other options, before the call starts. */
  protected final void options(CallOptions other) {
    options = other;
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
    final Context context = context();
    if (context.isCancelled()) {
      fail(OPEN, Contexts.statusFromCancelled(context));
      return;
    }
    final Status unsayable = tellEncoding(headers);
    if (unsayable != null) {
      fail(OPEN, unsayable);
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
        // Delivered by the poller, as other deadlines are: the timer's thread must not run user
        // code.
        startTimer(
            () -> session().poller().execute(() -> fail(OPEN, exceeded())),
            deadline.timeRemaining(TimeUnit.NANOSECONDS));
      }
    }
    if (context != Context.ROOT) {
      watchContext(cancelled -> cancelNow(Contexts.statusFromCancelled(cancelled)));
      if (outcome >= FAILED) { // by the timer, which may have found no listener to remove
        stopWatching();
      }
    }
  }

  @Override
  public void start(Listener<RespT> responseListener, Metadata headers) {
    throw new UnsupportedOperationException("who extends this chooses a connection");
  }

  @Override
  public void request(int numMessages) {
    if (addRequested(numMessages) == 0 && numMessages > 0 && outcome >= ANSWERED) {
      if (outcome == CONTINUED) {
        continuation.request(takeRequested());
      } else {
        signal();
      }
    }
  }

  @Override
  public void sendMessage(ReqT message) {
    if (halfClosed) {
      throw new IllegalStateException("call was half-closed");
    }
    if (hasRequest) {
      if (outcome == OPEN) {
        sendSecond(message);
      }
      return;
    }
    request = message;
    hasRequest = true;
  }

  /**
   * Called for a second request message, which does not fit into the one unit. Ends the call,
   * unless an override {@linkplain #giveUp gives it up} and sends the message another way.
   */
  protected void sendSecond(ReqT message) {
    fail(OPEN, Status.INTERNAL.withDescription("Too many requests: the call sends one message"));
  }

  /** Has an effect before the message only, as there is only one. */
  @Override
  public void setMessageCompression(boolean enabled) {
    if (!hasRequest) {
      super.setMessageCompression(enabled);
    }
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
    begins();
    try {
      prepare(opened);
    } catch (IOException | RuntimeException e) {
      session.recycle(opened);
      if (session.hasEnded()) { // while the message was written into its memory
        unsent(session.endReason());
      } else {
        fail(OPEN, Status.CANCELLED.withDescription("Failed to stream message").withCause(e));
      }
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
      return;
    }
    stopTimer(); // the session watches from here on
    if (BlockingStubs.mayPoll(options)) {
      session.sendAndPoll(opened);
    } else {
      session.send(opened);
    }
  }

  /** Marshals the request into a stream's unit. */
  private void prepare(ClientStream opened) throws IOException {
    final UnitBuffer unit = opened.outbound();
    final long remainingNs = Requests.remainingNs(deadline);
    final int methodId = connection.methodId(method);
    int flags =
        PREFIX | SUFFIX | Requests.addSections(unit, remainingNs, headers, options.getAuthority());
    if (hasRequest) {
      final Integer maxLength = options.getMaxOutboundMessageSize();
      flags |=
          Encoding.write(
              encoding,
              method.streamRequest(request),
              unit,
              maxLength == null ? Integer.MAX_VALUE : maxLength,
              connection.session().bulk());
    }
    opened.prepare(
        this,
        flags,
        methodId,
        Requests.deadlineNs(connection.session(), remainingNs),
        limits.maxUnitLength());
  }

  @Override
  final void cancelNow(Status status) {
    final Status counts = orExceeded(status);
    for (; ; ) {
      final int before = outcome;
      if (before == CONTINUED) {
        continuation.cancelNow(counts);
        return;
      }
      if (before >= FAILED) {
        if (rejected) {
          signal(); // the executor may take tasks again
        }
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

  @Override
  public boolean isReady() {
    return listener != null && !halfClosed && outcome == OPEN;
  }

  @Override
  public final void onClosed(ClientStream ended, ClientStream.Outcome how) {
    switch (how) {
      case ANSWERED -> {
        if (OUTCOME.compareAndSet(this, SENT, ANSWERED)) {
          signal();
        } else {
          connection.session().release(ended, true);
        }
      }
      case DEADLINE_EXCEEDED -> {
        final boolean counted = fail(SENT, exceeded());
        connection.session().release(ended, !counted);
      }
      case TOO_MANY_RESPONSES -> {
        final boolean counted = fail(SENT, BareCall.TOO_MANY_ANSWERS);
        connection.session().release(ended, !counted);
      }
      case NOT_SENT -> {
        if (OUTCOME.compareAndSet(this, SENT, OPEN)) {
          unsent(connection.session().endReason());
        }
      }
      case SESSION_ENDED -> fail(SENT, sessionEnded());
    }
  }

  /**
   * Called when the response takes several units: another call takes over the stream and the
   * listener. If several threads call, one of them does it; the units of the others are in the flow
   * by then.
   */
  @Override
  public final void onFlow(ClientStream flowing) {
    final StreamingClientCall<ReqT, RespT> other = continuation(flowing);
    if (OUTCOME.compareAndSet(this, SENT, CONTINUED)) {
      stopWatching();
      other.watch();
      other.request(takeRequested());
    }
    if (outcome == CONTINUED) {
      other.onFlow();
    }
  }

  /** Creates the other call in the context of this one, since this may run on any thread. */
  private StreamingClientCall<ReqT, RespT> continuation(ClientStream flowing) {
    synchronized (flowing) {
      if (continuation == null) {
        final Context before = context().attach();
        try {
          final StreamingClientCall<ReqT, RespT> made =
              new StreamingClientCall<>(method, options, executor(), connection, limits, flowing);
          made.halfClosed(listener, deadline, startedNs);
          continuation = made;
        } finally {
          context().detach(before);
        }
      }
      return continuation;
    }
  }

  /** Called when the call has got a stream of the ring. */
  protected void begins() {}

  /**
   * Called when the server cannot have seen the request, and the listener has got nothing. Ends the
   * call with UNAVAILABLE unless overridden.
   */
  protected void unsent(String reason) {
    fail(OPEN, Status.UNAVAILABLE.withDescription("ring is not available: " + reason));
  }

  /** True when the ring that the call began on takes no new calls: another one might. */
  protected final boolean hasLostRing() {
    return !connection.isOpen();
  }

  /** Gives the call up so that another transport can take it. False when it has ended meanwhile. */
  protected final boolean giveUp() {
    if (!OUTCOME.compareAndSet(this, OPEN, FAILED)) {
      return false;
    }
    stopWatching();
    return true;
  }

  /** Ends a call that was given up, because no other transport took it. */
  protected final void closeGivenUp(Status status) {
    failure = status;
    signal();
  }

  /** Starts another call with the listener of this one, which was given up. */
  protected final void startOn(ClientCall<ReqT, RespT> other) {
    other.start(listener, headers);
  }

  /** Replays the operations of this call on another one, which was started. */
  protected final void replayOn(ClientCall<ReqT, RespT> other) {
    final int messages = takeRequested();
    if (messages > 0) {
      other.request(messages);
    }
    if (encoding != null) {
      other.setMessageCompression(encoding.isEnabled());
    }
    if (hasRequest) {
      other.sendMessage(request);
    }
    if (halfClosed) {
      other.halfClose();
    }
  }

  @Override
  final void deliver() {
    if (closed) {
      return;
    }
    if (outcome == ANSWERED) {
      deliverAnswer();
    }
    if (failure != null && !closed) {
      recycleIfFailed();
      close(failure, new Metadata());
    }
  }

  private void recycleIfFailed() {
    if (OUTCOME.compareAndSet(this, ANSWERED_THEN_FAILED, FAILED)) {
      connection.session().recycle(stream);
    }
  }

  /**
   * Does not tell the listener, as over gRPC, unless the executor accepts the task again on a
   * cancel.
   */
  @Override
  final boolean onRejected(Throwable e) {
    if (closed) {
      return false;
    }
    final boolean first = !rejected;
    rejected = true; // before the call fails: a cancel that finds it failed has to signal
    final boolean failedHere = OUTCOME.compareAndSet(this, ANSWERED, ANSWERED_THEN_FAILED);
    if (failedHere) {
      failure = Status.CANCELLED.withDescription("the executor rejected the call").withCause(e);
    }
    recycleIfFailed();
    stopWatching();
    if (first) {
      log("the executor rejected", e);
    }
    return first && !failedHere; // a cancel may have come between, and its signal with this one
  }

  private void deliverAnswer() {
    if (!responseRead) {
      responseRead = true;
      if (!readResponse()) {
        return;
      }
    }
    if (messageLength >= 0) {
      if (!wantsMessage()) {
        return; // the listener has to ask first
      }
      if (!deliverMessage()) {
        return;
      }
      messageLength = -1;
    }
    if (OUTCOME.compareAndSet(this, ANSWERED, FAILED)) {
      connection.session().recycle(stream);
      if (response == null) {
        close(Status.OK, new Metadata());
      } else {
        close(response.status, response.trailers);
      }
    }
  }

  /**
   * Reads the response. Almost every one has a message, the status OK and no sections, and needs no
   * {@link Response}.
   */
  private boolean readResponse() {
    if (stream.inboundFlags() == (PREFIX | MESSAGE | SUFFIX)
        && ProcessTime.status(stream.inboundCode()) == 0
        && !stream.inboundDiscarded()
        && stream.inbound().length() <= limits.maxInboundMessageLength()) {
      messageOffset = stream.inbound().offset();
      messageLength = stream.inbound().length();
      return deliverHeaders(new Metadata());
    }
    response = Response.read(stream, limits);
    messageOffset = response.messageOffset;
    messageLength = response.messageLength;
    if (isLate(response.status, (stream.inboundFlags() & CLOSE) != 0)) {
      response.status = exceeded();
      response.trailers = new Metadata();
    }
    if (response.headers == null) {
      return true;
    }
    final Status unreadable = learnEncoding(response.headers);
    if (unreadable != null || (messageLength >= 0 && isCompressed() && !canDecompress())) {
      fail(ANSWERED, unreadable == null ? Encoding.NOT_CONFIGURED : unreadable);
      return false;
    }
    return deliverHeaders(response.headers);
  }

  private boolean isCompressed() {
    return (stream.inboundFlags() & COMPRESSED) != 0;
  }

  private boolean deliverHeaders(Metadata received) {
    try {
      listener.onHeaders(received);
      return true;
    } catch (Throwable t) {
      return failedIn("Failed to read headers", t);
    }
  }

  private RespT parseCompressed(InputStream input) throws IOException {
    return method.parseResponse(encoding.read(input, limits.maxInboundMessageLength()));
  }

  private boolean deliverMessage() {
    try (MessageInput input = new MessageInput(stream.inbound(), messageOffset, messageLength)) {
      listener.onMessage(isCompressed() ? parseCompressed(input) : method.parseResponse(input));
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
    stopWatching();
    tellClosed(listener, status, trailers);
  }
}
