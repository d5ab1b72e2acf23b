package dev.ringfetch.call;

import static dev.ringfetch.ring.FrameDescriptor.DESCRIPTION;
import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.METADATA;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;
import static dev.ringfetch.ring.FrameDescriptor.TRAILERS;

import dev.ringfetch.session.ServerSession;
import dev.ringfetch.session.ServerStream;
import dev.ringfetch.session.UnitBuffer;
import dev.ringfetch.session.Units;
import io.grpc.Attributes;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A unary call at the server: its request is in the stream when it begins, its response leaves as
 * one unit when the handler closes. It is its own task on the server's executor, and of its tasks
 * only one runs at a time; nothing else of a call happens in the poller's thread, unless the
 * executor is {@link DirectExecutor}.
 */
final class UnaryServerCall<ReqT, RespT> extends ServerCall<ReqT, RespT>
    implements ServerStream.Listener, Runnable {
  private static final VarHandle SIGNALS;
  private static final VarHandle REQUESTED;

  static {
    try {
      final MethodHandles.Lookup lookup = MethodHandles.lookup();
      SIGNALS = lookup.findVarHandle(UnaryServerCall.class, "signals", int.class);
      REQUESTED = lookup.findVarHandle(UnaryServerCall.class, "requested", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  // Why the call's task runs.
  private static final int RUNNING = 1;
  private static final int BEGIN = 2;
  private static final int DELIVER = 4;

  private final CallAcceptor acceptor;
  private final ServerSession session;
  private final ServerStream stream;

  private ServerMethodDefinition<ReqT, RespT> method;
  private volatile Context.CancellableContext context;
  private Listener<ReqT> listener;
  private int messageOffset;
  private int messageLength = -1;
  private boolean halfClosed;
  private boolean ended;

  // The handler's.
  private boolean headersSent;
  private boolean messageSent;
  private int flags;
  private volatile boolean closed;
  private volatile boolean cancelled;
  private volatile boolean requestRead; // nobody looks at the inbound unit any more

  @SuppressWarnings("unused") // through SIGNALS
  private volatile int signals;

  @SuppressWarnings("unused") // through REQUESTED
  private volatile int requested;

  UnaryServerCall(
      CallAcceptor acceptor,
      ServerSession session,
      ServerStream stream,
      ServerMethodDefinition<ReqT, RespT> method) {
    this.acceptor = acceptor;
    this.session = session;
    this.stream = stream;
    this.method = method;
  }

  void begin() {
    stream.listener(this);
    if (stream.isCancelled()) { // before there was a listener: nobody was told
      cancelled = true;
    }
    signal(BEGIN);
  }

  /** The executor takes no more tasks. */
  void refuse(RejectedExecutionException e) {
    requestRead = true;
    respond(Status.UNAVAILABLE.withDescription("Server executor: " + e.getMessage()), null);
  }

  private void signal(int signal) {
    if (((int) SIGNALS.getAndBitwiseOr(this, RUNNING | signal) & RUNNING) == 0) {
      acceptor.executor().execute(this);
    }
  }

  @Override
  public void run() {
    do {
      int taken;
      while (((taken = (int) SIGNALS.getAndBitwiseAnd(this, RUNNING)) & ~RUNNING) != 0) {
        if ((taken & BEGIN) != 0) {
          start();
        }
        deliver();
      }
    } while (!SIGNALS.compareAndSet(this, RUNNING, 0));
  }

  /** Reads the request's sections and calls the handler, through all interceptors. */
  private void start() {
    if (cancelled) {
      ended = true; // before the handler knew of the call
      return;
    }
    final Metadata headers;
    try {
      headers = readSections();
    } catch (MalformedUnitException | IllegalArgumentException e) {
      requestRead = true;
      respond(Status.INTERNAL.withDescription("Malformed request: " + e.getMessage()), null);
      ended = true;
      return;
    }
    if (headers == null) {
      ended = true; // refused
      return;
    }
    final Context.CancellableContext own = newContext();
    context = own;
    final Context before = own.attach();
    try {
      listener = startCall(headers);
      if (listener != null) {
        listener.onReady();
      }
    } catch (Throwable t) {
      failed(t);
    } finally {
      own.detach(before);
    }
  }

  /**
   * The handler's listener; null when the handler or an interceptor threw, and the call is over.
   */
  private Listener<ReqT> startCall(Metadata headers) {
    try {
      final Listener<ReqT> started = method.getServerCallHandler().startCall(this, headers);
      if (started == null) {
        throw new NullPointerException(
            "startCall() returned a null listener for method "
                + method.getMethodDescriptor().getFullMethodName());
      }
      return started;
    } catch (Throwable t) { // unlike a listener's, a status that is thrown here reaches the client
      failed(t, Status.fromThrowable(t));
      ended = true;
      context.cancel(null);
      return null;
    }
  }

  /** Headers, or null when the request was refused. */
  private Metadata readSections() throws MalformedUnitException {
    final ServerLimits limits = acceptor.limits();
    final Metadata headers;
    if (stream.inboundFlags() == (PREFIX | MESSAGE | SUFFIX)) { // no sections: no view is needed
      if (!findMethod(null)) {
        return null;
      }
      headers = new Metadata();
      messageOffset = stream.inbound().offset();
      messageLength = stream.inbound().length();
    } else {
      final Request request = new Request(stream);
      if (!findMethod(request.takeMethodName())) {
        return null;
      }
      headers = request.takeHeaders(limits.maxInboundMetadataLength());
      if (headers == null) {
        return refuse(
            Status.RESOURCE_EXHAUSTED.withDescription(
                "metadata exceeds maximum size " + limits.maxInboundMetadataLength()));
      }
      messageOffset = request.messageOffset();
      messageLength = request.messageLength();
    }
    if (messageLength > limits.maxInboundMessageLength()) {
      return refuse(
          Status.RESOURCE_EXHAUSTED.withDescription(
              Units.tooLong(limits.maxInboundMessageLength(), messageLength)));
    }
    return headers;
  }

  @SuppressWarnings("unchecked") // the registry's definition is of the method that the client named
  private boolean findMethod(String name) {
    if (method == null && name != null) {
      method = (ServerMethodDefinition<ReqT, RespT>) acceptor.lookup(name);
    }
    if (method == null) {
      refuse(Status.UNIMPLEMENTED.withDescription("Method not found: " + name));
      return false;
    }
    if (method.getMethodDescriptor().getType() != MethodDescriptor.MethodType.UNARY) {
      refuse(Status.UNIMPLEMENTED.withDescription("Method is not unary: " + name));
      return false;
    }
    return true;
  }

  private Metadata refuse(Status status) {
    requestRead = true;
    respond(status, null);
    return null;
  }

  private Context.CancellableContext newContext() {
    final long deadlineNs = stream.deadlineNs();
    if (deadlineNs == ServerStream.NO_DEADLINE) {
      return acceptor.context().withCancellation();
    }
    final Deadline deadline = Deadline.after(deadlineNs - session.nanoTime(), TimeUnit.NANOSECONDS);
    return acceptor.context().withDeadline(deadline, SessionTimer.INSTANCE);
  }

  /** Tells the listener what there is to tell. */
  private void deliver() {
    if (ended || listener == null) {
      return;
    }
    final Context.CancellableContext own = context;
    final Context before = own.attach();
    try {
      if (cancelled) {
        ended = true;
        own.cancel(cancelCause());
        listener.onCancel();
      } else {
        deliverRequest();
        if (closed && !cancelled) {
          ended = true;
          listener.onComplete();
        }
      }
    } catch (Throwable t) {
      failed(t);
    } finally {
      own.detach(before);
      if (ended) {
        own.cancel(null);
      }
    }
  }

  private void deliverRequest() {
    if (halfClosed || closed) {
      return;
    }
    if (messageLength >= 0) {
      if (requested == 0) {
        return; // the handler has to ask first
      }
      final ReqT message;
      try (MessageInput input =
          new MessageInput(stream.inbound().array(), messageOffset, messageLength)) {
        message = method.getMethodDescriptor().parseRequest(input);
      }
      messageLength = -1;
      requestRead = true;
      listener.onMessage(message);
    }
    halfClosed = true;
    requestRead = true;
    if (!closed) {
      listener.onHalfClose();
    }
  }

  /** The listener threw: gRPC tells the client no more than that. */
  private void failed(Throwable t) {
    failed(t, Status.UNKNOWN.withDescription("Application error processing RPC"));
  }

  private void failed(Throwable t, Status status) {
    System.getLogger(UnaryServerCall.class.getName())
        .log(
            System.Logger.Level.WARNING,
            "handler of " + method.getMethodDescriptor().getFullMethodName(),
            t);
    if (!closed) {
      closed = true;
      respond(status, null);
      signal(DELIVER);
    }
  }

  @Override
  public void onCancelled() {
    cancelled = true;
    final Context.CancellableContext own = context;
    if (own != null) { // at once, not after what the handler is doing
      acceptor.executor().execute(() -> own.cancel(cancelCause()));
    }
    signal(DELIVER);
  }

  private Throwable cancelCause() {
    final Deadline deadline = context.getDeadline();
    return deadline != null && deadline.isExpired()
        ? new TimeoutException("context timed out")
        : Status.CANCELLED.withDescription("RPC cancelled").asRuntimeException();
  }

  @Override
  public void request(int numMessages) {
    if (numMessages < 0) {
      throw new IllegalArgumentException("numMessages=" + numMessages);
    }
    final int before = (int) REQUESTED.getAndAdd(this, numMessages);
    if (before + numMessages < 0) {
      REQUESTED.setVolatile(this, Integer.MAX_VALUE);
    }
    if (before == 0) {
      signal(DELIVER);
    }
  }

  @Override
  public void sendHeaders(Metadata headers) {
    checkState(!headersSent, "sendHeaders has already been called");
    checkState(!closed, "call is closed");
    headersSent = true;
    flags |= PREFIX;
    if (!Sections.isEmpty(headers)) {
      flags |= METADATA;
      Sections.addMetadata(stream.outbound(), headers);
    }
  }

  @Override
  public void sendMessage(RespT message) {
    checkState(headersSent, "sendHeaders has not been called");
    checkState(!closed, "call is closed");
    if (messageSent) {
      closeNow(Status.INTERNAL.withDescription("Too many responses"));
      return;
    }
    messageSent = true;
    if (cancelled) {
      return;
    }
    final UnitBuffer unit = stream.outbound();
    final int before = unit.length();
    try {
      Messages.write(method.getMethodDescriptor().streamResponse(message), unit, Integer.MAX_VALUE);
      flags |= MESSAGE;
    } catch (IOException | RuntimeException e) {
      unit.truncate(before);
      closeNow(Status.fromThrowable(e));
    } catch (Error e) {
      unit.truncate(before);
      closeNow(Status.CANCELLED.withDescription("Server sendMessage() failed with Error"));
      throw e;
    }
  }

  @Override
  public void close(Status status, Metadata trailers) {
    checkState(!closed, "call already closed");
    if (status.isOk() && !messageSent) {
      closeNow(Status.INTERNAL.withDescription("Completed without a response"));
      return;
    }
    closed = true;
    respond(status, trailers);
    signal(DELIVER);
  }

  private void closeNow(Status status) {
    closed = true;
    respond(status, null);
    signal(DELIVER);
  }

  /** Sends what was staged with this status. The stream is not touched afterwards. */
  private void respond(Status status, Metadata trailers) {
    if (cancelled) {
      return; // the session has answered
    }
    final UnitBuffer unit = stream.outbound();
    int response = flags | SUFFIX;
    if (status.getDescription() != null) {
      Sections.addDescription(unit, status.getDescription(), Units.MAX_DESCRIPTION_LENGTH);
      response |= DESCRIPTION;
    }
    if (trailers != null && !Sections.isEmpty(trailers)) {
      Sections.addTrailers(unit, trailers);
      response |= TRAILERS;
    }
    session.respond(stream, response, status.getCode().value(), requestRead);
  }

  private static void checkState(boolean state, String message) {
    if (!state) {
      throw new IllegalStateException(message);
    }
  }

  @Override
  public boolean isReady() {
    return !closed && !cancelled;
  }

  @Override
  public boolean isCancelled() {
    return cancelled;
  }

  @Override
  public MethodDescriptor<ReqT, RespT> getMethodDescriptor() {
    return method.getMethodDescriptor();
  }

  @Override
  public Attributes getAttributes() {
    return acceptor.attributes();
  }

  @Override
  public String getAuthority() {
    return acceptor.authority();
  }
}
