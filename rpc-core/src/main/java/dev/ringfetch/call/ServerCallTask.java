package dev.ringfetch.call;

import dev.ringfetch.session.ServerSession;
import dev.ringfetch.session.ServerStream;
import dev.ringfetch.session.poller.InlineTask;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A server's call as its own task: whoever has something for the handler signals, and the server's
 * executor runs the task, never twice at a time. Nothing else of a call happens in the poller's
 * thread, unless the executor is {@link DirectExecutor}, or the method's {@link HandlerRecord} says
 * that the task's first run may happen there: it is most often the only one.
 */
abstract class ServerCallTask<ReqT, RespT> extends EncodedCall<ReqT, RespT>
    implements ServerStream.Listener, InlineTask, Runnable {
  private static final VarHandle SIGNALS;
  private static final VarHandle REQUESTED;

  static {
    try {
      final MethodHandles.Lookup lookup = MethodHandles.lookup();
      SIGNALS = lookup.findVarHandle(ServerCallTask.class, "signals", int.class);
      REQUESTED = lookup.findVarHandle(ServerCallTask.class, "requested", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private static final String FAILED = "Application error processing RPC";

  // Why the call's task runs.
  private static final int RUNNING = 1;
  private static final int BEGIN = 2;
  static final int DELIVER = 4;

  final ServerSession session;
  final ServerStream stream;

  /** The session has answered. */
  volatile boolean cancelled;

  ServerMethodDefinition<ReqT, RespT> method;
  Listener<ReqT> listener;
  private final HandlerRecord record; // null: the call never runs in the poller's thread
  private volatile Context.CancellableContext context;
  private CallExecutor own; // null while the server's executor runs the call
  private InlineTask nextInLine;
  private boolean hasRun;
  private boolean ended;
  private volatile boolean unserved; // the task will not run again

  @SuppressWarnings("unused") // through SIGNALS
  private volatile int signals;

  @SuppressWarnings("unused") // through REQUESTED
  private volatile int requested;

  ServerCallTask(
      CallAcceptor acceptor,
      ServerSession session,
      ServerStream stream,
      ServerMethodDefinition<ReqT, RespT> method,
      HandlerRecord record) {
    super(acceptor);
    this.session = session;
    this.stream = stream;
    this.method = method;
    this.record = record;
  }

  /**
   * Reads the request's sections, and finds the method.
   *
   * @return headers, or null when the call has ended by {@link #refuse} or is another one's.
   */
  abstract Metadata readRequest() throws MalformedUnitException;

  /** Answers a call of which no handler knows yet. */
  abstract void refuse(Status status);

  /**
   * Answers in the handler's stead, unless there is an answer. The caller sees to it that the
   * listener is told.
   *
   * @return true when this is the answer.
   */
  abstract boolean answer(Status status);

  /** True when the answer is on its way: the listener is told that the call is complete. */
  abstract boolean isAnswered();

  /** True when the answer is that the handler used the call wrongly: to it that is a cancel. */
  abstract boolean isBroken();

  /** The context that the call's own descends from. */
  Context root() {
    return acceptor.context();
  }

  /** The handler is about to be called. */
  void onStarting() {}

  /** The call has ended by a cancel, before its listener is told. */
  void onCancelTold() {}

  /** Tells the listener what came in. */
  abstract void deliverInbound() throws IOException;

  /** The task runs once more, after the listener was told the end. */
  abstract void afterEnd();

  final void begin() {
    stream.listener(this);
    if (stream.isCancelled()) { // before there was a listener: nobody was told
      cancelled = true;
    }
    signal(BEGIN);
  }

  final void signal(int signal) {
    if (((int) SIGNALS.getAndBitwiseOr(this, RUNNING | signal) & RUNNING) == 0) {
      if (!hasRun) {
        acceptor.execute(this);
        return;
      }
      try {
        executor().execute(this);
      } catch (RuntimeException | Error e) { // rejected, or there is no thread to be had
        rejected(e);
      }
    }
  }

  /**
   * The executor does not take the task. This thread stands in for the task, once for all since the
   * call stays marked as running: nothing of the handler runs here but listeners of its context.
   * Never throws: who calls has other calls to hand over, or its own to serve.
   */
  final void rejected(Throwable e) {
    ended = true;
    boolean told = false;
    try {
      endUnserved(e, Status.UNAVAILABLE.withDescription("Server executor: " + e.getMessage()));
      told = true;
      if (!(e instanceof RejectedExecutionException)) {
        log("executor of a call", e);
      }
    } catch (Throwable again) { // there is no memory to say so
      if (!told) {
        session.doom(); // nobody else would tell the client
      }
    }
  }

  /** Answers, tells the context, and lets go, since the call's task will not. */
  private void endUnserved(Throwable e, Status status) {
    unserved = true;
    final boolean open = answer(status);
    final Context.CancellableContext entered = context;
    if (entered != null) {
      entered.cancel(cancelled ? cancelCause() : open ? e : null);
    }
    if (cancelled) {
      session.release(stream);
    }
  }

  /** Has the poller's thread run the task, if that is who calls and it may. */
  final boolean offer() {
    return record != null && record.isTrusted() && session.offer(this);
  }

  @Override
  public final void runInline() {
    hasRun = true;
    serve();
  }

  @Override
  public final void handOver() {
    try {
      acceptor.handOver(this);
    } catch (Throwable t) { // not even a place to wait
      session.doom(); // nobody else would tell the client
      throw t;
    }
  }

  @Override
  public final InlineTask nextInLine() {
    return nextInLine;
  }

  @Override
  public final void nextInLine(InlineTask next) {
    nextInLine = next;
  }

  @Override
  public final void ranInline(long durationNs) {
    record.ranInline(durationNs);
  }

  @Override
  public final void overran(boolean waits) {
    record.overran(waits);
  }

  @Override
  public final void run() {
    if (hasRun) {
      serve();
      return;
    }
    hasRun = true;
    acceptor.begun();
    if (record == null || record.isTrusted()) {
      serve();
      return;
    }
    final long startNs = session.nanoTime();
    try {
      serve();
    } finally {
      record.ranElsewhere(session.nanoTime() - startNs);
    }
  }

  private void serve() {
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
    if (isMoving()) {
      startHandler(own.takeHeaders());
      deliver(); // what was signalled before the move
    }
    do {
      int taken;
      while (((taken = (int) SIGNALS.getAndBitwiseAnd(this, RUNNING)) & ~RUNNING) != 0) {
        if ((taken & BEGIN) != 0) {
          start();
        }
        if (isMoving()) {
          move();
          return; // and the call stays marked as running
        }
        deliver();
      }
    } while (!SIGNALS.compareAndSet(this, RUNNING, 0));
  }

  private Executor executor() {
    final CallExecutor chosen = own;
    return chosen == null ? acceptor.executor() : chosen.executor();
  }

  private boolean isMoving() {
    return own != null && own.isAwaited();
  }

  private void move() {
    try {
      own.executor().execute(this);
    } catch (RuntimeException | Error e) { // rejected, or there is no thread to be had
      rejected(e);
    }
  }

  /** Asks the server for an executor of the call's own. False when the call has ended of that. */
  private boolean chooseExecutor(Metadata headers) {
    try {
      final Executor chosen = acceptor.executorFor(this, headers);
      if (chosen != null) {
        own = new CallExecutor(chosen, headers);
      }
      return true;
    } catch (Throwable t) { // the server's application's
      failed(t, Status.fromThrowable(t));
      ended = true;
      context.cancel(null);
      return false;
    }
  }

  /** Reads the request's sections and calls the handler, through all interceptors. */
  private void start() {
    if (cancelled) {
      endUnheard();
      return;
    }
    final Metadata headers;
    try {
      headers = readRequest();
    } catch (MalformedUnitException | IllegalArgumentException e) {
      refuse(Status.INTERNAL.withDescription("Malformed request: " + e.getMessage()));
      ended = true;
      return;
    }
    if (headers == null) {
      ended = true; // refused, or taken over
      return;
    }
    final Context.CancellableContext made = newContext();
    context = made;
    if (cancelled) { // by a thread that may have seen no context yet
      made.cancel(cancelCause());
      endUnheard();
      return;
    }
    if (chooseExecutor(headers) && !isMoving()) {
      startHandler(headers);
    }
  }

  private void startHandler(Metadata headers) {
    final Context.CancellableContext entered = context;
    final Context before = entered.attach();
    try {
      listener = startCall(headers);
      if (listener != null) {
        listener.onReady();
      }
    } catch (Throwable t) {
      failed(t);
    } finally {
      entered.detach(before);
    }
  }

  /** Cancelled before the handler knew of the call. */
  private void endUnheard() {
    ended = true;
    onCancelTold();
    session.release(stream);
  }

  /**
   * The handler's listener; null when the handler or an interceptor threw, and the call is over.
   */
  private Listener<ReqT> startCall(Metadata headers) {
    try {
      onStarting();
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

  @SuppressWarnings("unchecked") // the registry's definition is of the method that the client named
  final boolean findMethod(String name) {
    if (method == null && name != null) {
      try {
        method = (ServerMethodDefinition<ReqT, RespT>) acceptor.lookup(name, getAuthority());
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
    return true;
  }

  private Context.CancellableContext newContext() {
    final long deadlineNs = stream.deadlineNs();
    if (deadlineNs == ServerStream.NO_DEADLINE) {
      return root().withCancellation();
    }
    final Deadline deadline = Deadline.after(deadlineNs - session.nanoTime(), TimeUnit.NANOSECONDS);
    return root().withDeadline(deadline, SessionTimer.INSTANCE);
  }

  /** Tells the listener what there is to tell. */
  private void deliver() {
    if (ended) {
      afterEnd();
      return;
    }
    if (listener == null) {
      return;
    }
    final Context.CancellableContext entered = context;
    final Context before = entered.attach();
    try {
      if (!cancelled && !isBroken()) {
        deliverInbound();
      }
      if (cancelled || isBroken()) {
        ended = true;
        entered.cancel(cancelCause());
        onCancelTold();
        listener.onCancel();
      } else if (isAnswered()) {
        ended = true;
        listener.onComplete();
      }
    } catch (Throwable t) {
      failed(t);
    } finally {
      entered.detach(before);
      if (ended) {
        entered.cancel(null);
        if (cancelled) {
          session.release(stream);
        }
      }
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
    System.getLogger(ServerCallTask.class.getName()).log(System.Logger.Level.WARNING, who, t);
  }

  @Override
  public final void onCancelled() {
    cancelled = true;
    final Context.CancellableContext entered = context;
    if (entered != null) { // at once, not after what the handler is doing
      try {
        executor().execute(() -> entered.cancel(cancelCause()));
      } catch (RuntimeException | Error e) { // which the signal meets, too
        entered.cancel(cancelCause()); // rather in this thread than never
      }
    }
    signal(DELIVER);
    if (unserved) { // its answer had not left
      session.release(stream);
    }
  }

  private Throwable cancelCause() {
    final Deadline deadline = context.getDeadline();
    return deadline != null && deadline.isExpired()
        ? new TimeoutException("context timed out")
        : Status.CANCELLED.withDescription("RPC cancelled").asRuntimeException();
  }

  @Override
  public final void request(int numMessages) {
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
  public final boolean isCancelled() {
    return cancelled || isBroken();
  }

  /** True when the handler has asked for a message that it has not got. */
  final boolean wantsMessage() {
    return requested > 0;
  }

  /** The handler gets one of those that it has asked for. */
  final void countMessage() {
    REQUESTED.getAndAdd(this, -1);
  }

  @Override
  public final MethodDescriptor<ReqT, RespT> getMethodDescriptor() {
    return method.getMethodDescriptor();
  }
}
