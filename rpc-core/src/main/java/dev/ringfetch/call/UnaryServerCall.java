package dev.ringfetch.call;

import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;

import dev.ringfetch.session.ServerSession;
import dev.ringfetch.session.ServerStream;
import dev.ringfetch.session.Units;
import io.grpc.Attributes;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
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
final class UnaryServerCall<ReqT, RespT> extends AnsweringCall<ReqT, RespT>
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

  private static final String FAILED = "Application error processing RPC";

  // Why the call's task runs.
  private static final int RUNNING = 1;
  private static final int BEGIN = 2;
  private static final int DELIVER = 4;

  private final CallAcceptor acceptor;

  private ServerMethodDefinition<ReqT, RespT> method;
  private volatile Context.CancellableContext context;
  private Listener<ReqT> listener;
  private int messageOffset;
  private int messageLength = -1;
  private boolean halfClosed;
  private boolean hasRun;
  private boolean ended;

  @SuppressWarnings("unused") // through SIGNALS
  private volatile int signals;

  @SuppressWarnings("unused") // through REQUESTED
  private volatile int requested;

  UnaryServerCall(
      CallAcceptor acceptor,
      ServerSession session,
      ServerStream stream,
      ServerMethodDefinition<ReqT, RespT> method) {
    super(session, stream);
    this.acceptor = acceptor;
    this.method = method;
  }

  void begin() {
    stream.listener(this);
    if (stream.isCancelled()) { // before there was a listener: nobody was told
      cancelled = true;
    }
    signal(BEGIN);
  }

  private void signal(int signal) {
    if (((int) SIGNALS.getAndBitwiseOr(this, RUNNING | signal) & RUNNING) == 0) {
      if (!hasRun) {
        acceptor.execute(this);
        return;
      }
      try {
        acceptor.executor().execute(this);
      } catch (RuntimeException | Error e) { // rejected, or there is no thread to be had
        rejected(e);
      }
    }
  }

  /**
   * The executor does not take the task. This thread stands in for the task, once for all since the
   * call stays marked as running: nothing of the handler runs here but listeners of its context.
   */
  void rejected(Throwable e) {
    ended = true;
    if (!(e instanceof RejectedExecutionException)) {
      log("executor of a call", e);
    }
    endUnserved(e, Status.UNAVAILABLE.withDescription("Server executor: " + e.getMessage()));
  }

  /** Answers, tells the context, and lets go, since the call's task will not. */
  private void endUnserved(Throwable e, Status status) {
    final boolean open = answer(status);
    final Context.CancellableContext own = context;
    if (own != null) {
      own.cancel(cancelled ? cancelCause() : open ? e : null);
    }
    if (cancelled) {
      session.release(stream);
    }
  }

  @Override
  public void run() {
    if (!hasRun) {
      hasRun = true;
      acceptor.begun();
    }
    try {
      runSignalled();
    } catch (Throwable t) { // not the handler's: there is no memory or no stack to serve it in
      ended = true;
      try {
        endUnserved(t, Status.UNKNOWN.withDescription(FAILED));
      } catch (Throwable again) {
        session.doom(); // nobody else would tell the client
      }
      throw t;
    }
  }

  private void runSignalled() {
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
      endUnheard();
      return;
    }
    final Metadata headers;
    try {
      headers = readSections();
    } catch (MalformedUnitException | IllegalArgumentException e) {
      refuse(Status.INTERNAL.withDescription("Malformed request: " + e.getMessage()));
      ended = true;
      return;
    }
    if (headers == null) {
      ended = true; // refused
      return;
    }
    final Context.CancellableContext own = newContext();
    context = own;
    if (cancelled) { // by a thread that may have seen no context yet
      own.cancel(cancelCause());
      endUnheard();
      return;
    }
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

  /** Cancelled before the handler knew of the call. */
  private void endUnheard() {
    ended = true;
    session.release(stream);
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
      try {
        method = (ServerMethodDefinition<ReqT, RespT>) acceptor.lookup(name);
      } catch (Throwable t) { // the registry is the application's
        log("registry that was asked for " + name, t);
        refuse(Status.fromThrowable(t));
        return false;
      }
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

  /** Nobody else knows the call yet: its stream carries the answer, and serves the next call. */
  private Metadata refuse(Status status) {
    requestRead = true;
    close(status, null);
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
      if (!cancelled && !isBroken()) {
        deliverRequest();
      }
      if (cancelled || isBroken()) {
        ended = true;
        own.cancel(cancelCause());
        listener.onCancel();
      } else if (isAnswered()) {
        ended = true;
        listener.onComplete();
      }
    } catch (Throwable t) {
      failed(t);
    } finally {
      own.detach(before);
      if (ended) {
        own.cancel(null);
        if (cancelled) {
          session.release(stream);
        }
      }
    }
  }

  private void deliverRequest() {
    if (halfClosed || isAnswered()) {
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
    if (!isAnswered()) {
      listener.onHalfClose();
    }
  }

  /** The listener threw: gRPC tells the client no more than that. */
  private void failed(Throwable t) {
    failed(t, Status.UNKNOWN.withDescription(FAILED));
  }

  private void failed(Throwable t, Status status) {
    answer(status); // unless another thread does, to which the handler may have given the call
    signal(DELIVER);
    log("handler of " + method.getMethodDescriptor().getFullMethodName(), t);
  }

  private static void log(String who, Throwable t) {
    System.getLogger(UnaryServerCall.class.getName()).log(System.Logger.Level.WARNING, who, t);
  }

  @Override
  void onAnswered() {
    signal(DELIVER);
  }

  @Override
  public void onCancelled() {
    cancelled = true;
    final Context.CancellableContext own = context;
    if (own != null) { // at once, not after what the handler is doing
      try {
        acceptor.executor().execute(() -> own.cancel(cancelCause()));
      } catch (RuntimeException | Error e) { // which the signal meets, too
        own.cancel(cancelCause()); // rather in this thread than never
      }
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
