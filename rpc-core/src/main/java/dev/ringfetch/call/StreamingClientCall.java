package dev.ringfetch.call;

import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.COMPRESSED;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;

import dev.ringfetch.session.ClientSession;
import dev.ringfetch.session.ClientStream;
import dev.ringfetch.session.Flow;
import dev.ringfetch.session.owner.SharedField;
import dev.ringfetch.session.poller.InlineTask;
import dev.ringfetch.session.unit.Unit;
import dev.ringfetch.session.unit.UnitBuffer;
import io.grpc.CallOptions;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.Executor;

/**
 * A client call of any kind over a ring, with any number of messages. It is under way from its
 * start on: each message leaves at once, in its own unit, as the server's window allows.
 *
 * <p>{@link #failure} is the end that this side has decided on; without one, the call ends with the
 * flow, when everything that came in is delivered.
 *
 * @param <ReqT> type of the requests.
 * @param <RespT> type of the responses.
 */
public final class StreamingClientCall<ReqT, RespT> extends OutgoingCall<ReqT, RespT>
    implements ClientStream.FlowListener {
  private static final VarHandle FAILURE =
      SharedField.of(MethodHandles.lookup(), "failure", Status.class);

  /**
   * A turn in the poller's thread, in nanoseconds. The hand-over to the pool that ends it is part
   * of the run, and the whole is to be over before the backup thread takes the poller over.
   */
  private static final long TURN_NS = InlineTask.BUDGET_NS / 2;

  private static final long NO_TURN = Long.MAX_VALUE;

  /** The internal status of a call that starts again elsewhere. */
  private static final Status UNSENT = Status.UNAVAILABLE.withDescription("the ring has ended");

  private final ClientStream stream;
  private final Runnable unsent;

  private Listener<RespT> listener;
  private Flow flow; // null before the call is under way
  private ClientTracers tracers = ClientTracers.NONE;

  // Owned by the caller.
  private UnitBuffer last; // the one message of a client that sends one, until it half-closes
  private int lastFlags;
  private boolean halfClosed;

  // Owned by the task.
  private boolean readyTold;
  private Response response; // of the oldest unit that is left
  private boolean closed;
  private int messages; // delivered in this run
  private long turnEndNs; // NO_TURN in the executor, 0 before the first message of a turn

  private int inlineParts = 1; // owned by the poller

  @SuppressWarnings("unused") // through FAILURE
  private volatile Status failure;

  /**
   * Creates a call.
   *
   * @param executor that runs the listener.
   * @param stream which the connection's session has opened for it.
   * @param unsent runs instead of the listener's end, if the server cannot have seen anything of
   *     the call; or null.
   */
  public StreamingClientCall(
      MethodDescriptor<ReqT, RespT> method,
      CallOptions options,
      Executor executor,
      ClientConnection connection,
      ClientLimits limits,
      ClientStream stream,
      Runnable unsent) {
    super(method, options, executor);
    this.connection = connection;
    this.limits = limits;
    this.stream = stream;
    this.unsent = unsent;
  }

  /** Creates a call that only receives its response, on this stream. */
  StreamingClientCall(
      MethodDescriptor<ReqT, RespT> method,
      CallOptions options,
      Executor executor,
      ClientConnection connection,
      ClientLimits limits,
      ClientStream stream) {
    this(method, options, executor, connection, limits, stream, null);
    flow = stream.flow();
    halfClosed = true;
  }

  /** Sets the listener and the deadline of the response; replaces a start. */
  void halfClosed(Listener<RespT> responseListener, Deadline due, long sinceNs) {
    listener = responseListener;
    deadline = due;
    startedNs = sinceNs;
  }

  @Override
  public void start(Listener<RespT> responseListener, Metadata headers) {
    if (listener != null) {
      throw new IllegalStateException("Already started");
    }
    listener = responseListener;
    final Status unstarted;
    try {
      unstarted = begin(headers);
    } catch (RuntimeException | Error e) { // of a tracer; start throws it on
      if (flow == null) {
        connection.session().recycle(stream);
      }
      throw e;
    }
    if (unstarted != null) {
      connection.session().recycle(stream);
      fail(unstarted);
      return;
    }
    watch();
    signal(); // ready to send
  }

  /** Ends the call when its context ends. */
  void watch() {
    if (context() != Context.ROOT) {
      watchContext(cancelled -> cancelNow(Contexts.statusFromCancelled(cancelled)));
      if (failure != null) { // the task may have found no listener to remove
        stopWatching();
      }
    }
  }

  /** Queues the first unit. Returns why there is no call, or null. */
  private Status begin(Metadata callerHeaders) {
    final Context context = context();
    final Metadata headers = new Metadata(); // tracers add headers, which the caller does not see
    headers.merge(callerHeaders);
    if (context.isCancelled()) {
      return Contexts.statusFromCancelled(context);
    }
    final Status unsayable = tellEncoding(headers);
    if (unsayable != null) {
      return unsayable;
    }
    tracers = ClientTracers.of(options, headers);
    deadline = Deadlines.effective(options, context);
    startedNs = System.nanoTime();
    if (deadline != null && deadline.isExpired()) {
      return Deadlines.startedLate(deadline, options);
    }
    tracers.streamCreated(connection.attributes(), headers);
    final ClientSession session = connection.session();
    final UnitBuffer bytes = new UnitBuffer();
    final long remainingNs = Requests.remainingNs(deadline);
    final int methodId = connection.methodId(method);
    final int flags;
    try {
      flags = PREFIX | Requests.addSections(bytes, remainingNs, headers, options.getAuthority());
    } catch (RuntimeException e) { // of a marshaller of the headers
      return Status.CANCELLED.withDescription("Failed to write headers").withCause(e);
    }
    stream.prepareFlow(
        this,
        Requests.deadlineNs(session, remainingNs),
        limits.maxUnitLength(),
        new Unit(flags, methodId, bytes));
    flow = stream.flow();
    if (options.getOnReadyThreshold() != null) {
      flow.readyLength(options.getOnReadyThreshold());
    }
    session.send(stream);
    tracers.outboundHeaders();
    return null;
  }

  @Override
  public void request(int numMessages) {
    if (addRequested(numMessages) == 0 && numMessages > 0) {
      signal();
    }
  }

  @Override
  public void sendMessage(ReqT message) {
    if (halfClosed) {
      throw new IllegalStateException("call was half-closed");
    }
    if (failure != null) {
      return;
    }
    final UnitBuffer bytes = new UnitBuffer();
    final Integer maxLength = options.getMaxOutboundMessageSize();
    final int flags;
    try {
      flags =
          Encoding.write(
              encoding,
              method.streamRequest(message),
              bytes,
              maxLength == null ? Integer.MAX_VALUE : maxLength,
              connection.session().bulk());
    } catch (IOException | RuntimeException e) {
      bytes.clear();
      if (!connection.session().hasEnded()) { // the end of the session is reported to every call
        cancelNow(Status.CANCELLED.withDescription("Failed to stream message").withCause(e));
      }
      return;
    } catch (Error e) {
      bytes.clear();
      cancelNow(
          Status.CANCELLED.withDescription("Client sendMessage() failed with Error").withCause(e));
      throw e;
    }
    tracers.outboundMessage(bytes.length(), Encoding.lengthBefore(encoding, flags, bytes.length()));
    if (last != null) {
      write(lastFlags, last);
    }
    if (method.getType().clientSendsOneMessage()) {
      last = bytes;
      lastFlags = flags;
    } else {
      write(flags, bytes);
    }
  }

  @Override
  public void halfClose() {
    if (halfClosed) {
      throw new IllegalStateException("call already half-closed");
    }
    halfClosed = true;
    final UnitBuffer message = last;
    last = null;
    if (message == null) {
      write(SUFFIX, new UnitBuffer());
    } else {
      write(lastFlags | SUFFIX, message);
    }
  }

  private void write(int flags, UnitBuffer bytes) {
    if (failure == null) {
      connection.session().write(stream, new Unit(flags, 0, bytes));
    } else {
      bytes.clear();
    }
  }

  @Override
  void cancelNow(Status status) {
    fail(orExceeded(status));
  }

  /** Ends the call from this side, unless it has ended. */
  private void fail(Status status) {
    if (FAILURE.compareAndSet(this, null, status)) {
      if (flow != null) {
        connection.session().cancel(stream);
      }
      signal();
    }
  }

  @Override
  public boolean isReady() {
    return flow != null && !halfClosed && failure == null && flow.isReady();
  }

  @Override
  public void onFlow() {
    signal();
  }

  @Override
  void onRun(boolean inline) {
    messages = 0;
    turnEndNs = inline ? 0 : NO_TURN;
  }

  private void countPart() {
    messages++;
    if (turnEndNs == 0) {
      turnEndNs = session().nanoTime() + TURN_NS;
    }
  }

  @Override
  boolean isTurnOver() {
    return messages > 0 && turnEndNs != NO_TURN && session().nanoTime() - turnEndNs >= 0;
  }

  @Override
  int countParts() {
    final int parts = Math.max(1, messages);
    if (turnEndNs != NO_TURN) {
      inlineParts = parts;
    }
    return parts;
  }

  @Override
  public int inlineParts() {
    return inlineParts;
  }

  @Override
  void deliver() {
    if (closed) {
      return;
    }
    if (failure == null) {
      deliverFlow();
    }
    final Status failed = failure;
    if (failed != null && !closed) {
      close(failed, new Metadata());
    }
  }

  private void deliverFlow() {
    try {
      tellReady();
    } catch (Throwable t) {
      failedIn("Failed to call onReady.", t);
      return;
    }
    ClientStream.Outcome outcome;
    do {
      outcome = flow.outcome(); // read first: all units before it are queued by then
      if (outcome == ClientStream.Outcome.DEADLINE_EXCEEDED) {
        close(exceeded(), new Metadata());
        return;
      }
      Unit unit;
      while ((unit = flow.peek()) != null) {
        if (!deliver(unit) || isTurnOver()) {
          return;
        }
      }
    } while (outcome != flow.outcome());
    if (outcome == ClientStream.Outcome.NOT_SENT && unsent != null) {
      leave();
    } else if (outcome != null && outcome != ClientStream.Outcome.ANSWERED) {
      close(sessionEnded(), new Metadata());
    }
  }

  /** Ends without telling the listener, unless this side has ended the call before. */
  private void leave() {
    if (FAILURE.compareAndSet(this, null, UNSENT)) {
      closed = true;
      stopWatching();
      tracers.closed(UNSENT);
      unsent.run();
    }
  }

  /** True when the server may have seen something of the call. */
  public boolean isUnderWay() {
    return flow != null && flow.isUnderWay();
  }

  private void tellReady() {
    final boolean room = flow.takeRoom();
    if ((room || !readyTold) && !method.getType().clientSendsOneMessage()) {
      readyTold = true;
      listener.onReady();
    }
  }

  /** Delivers a unit to the listener. False when it has to wait, or the call has ended. */
  private boolean deliver(Unit unit) {
    if (response == null) {
      response = Response.read(unit, limits);
      if (response.isFailed) {
        fail(response.status);
        return false;
      }
      final Status unreadable =
          unit.has(PREFIX | COMPRESSED) ? learnEncoding(unit, response.headers) : null;
      if (unreadable != null) {
        fail(unreadable);
        return false;
      }
      if (unit.has(PREFIX)) {
        try {
          tracers.inboundHeaders(response.headers);
          listener.onHeaders(response.headers);
        } catch (Throwable t) {
          return failedIn("Failed to read headers", t);
        }
      }
    }
    if (response.messageLength >= 0) {
      if (!wantsMessage()) {
        return false;
      }
      countMessage();
      countPart();
      if (!deliverMessage(unit)) {
        return false;
      }
    }
    if (failure != null) {
      return false;
    }
    final Response told = response;
    response = null;
    flow.remove();
    unit.bytes().clear();
    if (unit.has(SUFFIX | CLOSE)) {
      final boolean late = isLate(told.status, unit.has(CLOSE));
      tracers.inboundTrailers(told.trailers);
      close(late ? exceeded() : told.status, late ? new Metadata() : told.trailers);
      return false;
    }
    return true;
  }

  private Status learnEncoding(Unit unit, Metadata headers) {
    final Status unreadable = headers == null ? null : learnEncoding(headers);
    return unreadable == null && unit.has(COMPRESSED) && !canDecompress()
        ? Encoding.NOT_CONFIGURED
        : unreadable;
  }

  private RespT parse(InputStream input, boolean compressed) throws IOException {
    if (!compressed) {
      tracers.inboundMessage(response.messageLength);
      return method.parseResponse(input);
    }
    tracers.inboundCompressed(response.messageLength);
    final Encoding.Decompressed message = encoding.read(input, limits.maxInboundMessageLength());
    final RespT parsed = method.parseResponse(message);
    tracers.inboundDecompressed(message.length());
    return parsed;
  }

  private boolean deliverMessage(Unit unit) {
    try (MessageInput input =
        new MessageInput(unit.bytes(), response.messageOffset, response.messageLength)) {
      final RespT message = parse(input, unit.has(COMPRESSED));
      response.messageLength = -1;
      connection.session().consumed(stream, unit);
      listener.onMessage(message);
      return true;
    } catch (Throwable t) {
      return failedIn("Failed to read message.", t);
    }
  }

  private boolean failedIn(String what, Throwable t) {
    fail(Status.CANCELLED.withDescription(what).withCause(t));
    return false;
  }

  private void close(Status status, Metadata trailers) {
    closed = true;
    FAILURE.compareAndSet(this, null, status); // nothing is sent any more
    stopWatching();
    tracers.closed(status);
    tellClosed(listener, status, trailers);
  }

  /** Does not tell the listener, as over gRPC, but cancels the call at the server. */
  @Override
  boolean onRejected(Throwable e) {
    if (!closed) {
      closed = true;
      fail(Status.CANCELLED.withDescription("the executor rejected the call").withCause(e));
      stopWatching();
      tracers.closed(failure);
      log("the executor rejected", e);
    }
    return false;
  }
}
