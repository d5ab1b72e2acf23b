package dev.ringfetch.call;

import dev.ringfetch.session.ServerSession;
import dev.ringfetch.session.ServerStream;
import dev.ringfetch.session.owner.SharedField;
import dev.ringfetch.session.poller.InlineTask;
import dev.ringfetch.session.poller.ProcessorTime;
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
 * A server's call as its own task: a thread that has an event for the handler signals, and the
 * server's executor runs the task, never twice at a time. Nothing else of a call runs on the
 * poller's thread, unless the executor is {@link DirectExecutor}, or the method's {@link
 * TaskRecord} allows the task's first run there, which is most often the only one.
 */
abstract class ServerCallTask<ReqT, RespT> extends EncodedCall<ReqT, RespT>
    implements ServerStream.Listener, InlineTask, Runnable {
  private static final VarHandle SIGNALS =
      SharedField.of(MethodHandles.lookup(), "signals", int.class);
  private static final VarHandle REQUESTED =
      SharedField.of(MethodHandles.lookup(), "requested", int.class);

  private static final String FAILED = "Application error processing RPC";

  // Why the call's task runs.
  private static final int RUNNING = 1;
  private static final int BEGIN = 2;
  static final int DELIVER = 4;

  final ServerSession session;
  final ServerStream stream;

  /** True when the session has answered instead of the handler. */
  volatile boolean cancelled;

  ServerMethodDefinition<ReqT, RespT> method;
  Listener<ReqT> listener;
  private final TaskRecord record; // null: the call never runs in the poller's thread
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
      TaskRecord record) {
    super(acceptor);
    this.session = session;
    this.stream = stream;
    this.method = method;
    this.record = record;
  }

  /**
   * Reads the request's sections, and looks up the method.
   *
   * @return headers, or null when the call has ended by {@link #refuse} or has become another call.
   */
  abstract Metadata readRequest() throws MalformedUnitException;

  /** Answers a call that no handler has seen yet. */
  abstract void refuse(Status status);

  /**
   * Answers instead of the handler, unless there is an answer. The caller then tells the listener.
   *
   * @return true when this is the answer.
   */
  abstract boolean answer(Status status);

  /** True when the answer is on its way, so that the listener's end is onComplete. */
  abstract boolean isAnswered();

  /** True when the handler used the call wrongly, so that the listener's end is onCancel. */
  abstract boolean isBroken();

  /** The parent of the call's own context. */
  Context root() {
    return acceptor.context();
  }

  /** Called before the handler is called. */
  void onStarting() {}

  /** Called after the call was cancelled, before its listener is told. */
  void onCancelTold() {}

  /** Delivers the inbound units to the listener. */
  abstract void deliverInbound() throws IOException;

  /** Called when the task runs once more, after the listener was told the end. */
  abstract void afterEnd();

  final void begin() {
    stream.listener(this);
    if (stream.isCancelled()) { // before there was a listener to tell
      cancelled = true;
    }
    signal(BEGIN);
  }

  /** As {@link #begin}, but runs the task on this thread, which runs that of another call. */
  final void beginHere() {
    signals = RUNNING | BEGIN; // first: a cancel from here on takes the begin away
    stream.listener(this);
    if (stream.isCancelled()) {
      cancelled = true;
    }
    runInline();
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
   * Ends the call, because the executor rejects the task. This thread does the task's work, for
   * good, since the call stays marked as running. Of the handler's code only listeners of its
   * context run here. Never throws, because the caller has other calls to hand over or to serve.
   */
  final void rejected(Throwable e) {
    if (!hasRun && !takeBegin()) {
      return; // cancelled before
    }
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
        session.doom(); // nothing else would tell the client
      }
    }
  }

  /** Takes the task's begin away from it. False if it has begun, or somebody has taken it. */
  private boolean takeBegin() {
    return ((int) SIGNALS.getAndBitwiseAnd(this, ~BEGIN) & BEGIN) != 0;
  }

  /** Answers, cancels the context, and releases the stream, since the call's task will not. */
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

  /** Queues the task on the poller, if this is the poller's thread and the method is trusted. */
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
      session.doom(); // nothing else would tell the client
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
  public final RunRecord record() {
    return record;
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
    final long processorNs = record.isDoubtful() ? ProcessorTime.nowNs() : ProcessorTime.UNKNOWN;
    try {
      serve();
    } finally {
      final long durationNs = session.nanoTime() - startNs;
      record.ranElsewhere(durationNs, ProcessorTime.sinceNs(processorNs, durationNs), 1);
    }
  }

  private void serve() {
    try {
      runSignalled();
    } catch (Throwable t) {
      // not the handler's exception: there is no memory or no stack to serve the call
      ended = true;
      try {
        endUnserved(t, Status.UNKNOWN.withDescription(FAILED));
      } catch (Throwable again) {
        session.doom(); // nothing else would tell the client
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

  /** Asks the server's supplier for the call's executor. False when that has ended the call. */
  private boolean chooseExecutor(Metadata headers) {
    try {
      final Executor chosen = acceptor.executorFor(this, headers);
      if (chosen != null) {
        own = new CallExecutor(chosen, headers);
      }
      return true;
    } catch (Throwable t) { // the application's exception
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
    if (cancelled) { // by a thread that may have found no context yet
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

  /** Ends a call that was cancelled before the handler was called. */
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

  /** Delivers the pending events to the listener. */
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

  /** Ends the call after the listener threw: as in gRPC, the client learns no more than that. */
  private void failed(Throwable t) {
    failed(t, Status.UNKNOWN.withDescription(FAILED));
  }

  private void failed(Throwable t, Status status) {
    answer(status); // unless another thread answers, to which the handler may have given the call
    signal(DELIVER);
    log("handler of " + method.getMethodDescriptor().getFullMethodName(), t);
  }

  private static void log(String who, Throwable t) {
    System.getLogger(ServerCallTask.class.getName()).log(System.Logger.Level.WARNING, who, t);
  }

  @Override
  public final void onCancelled() {
    cancelled = true;
    if (takeBegin()) { // an executor may have dropped the task; if not, it finds nothing to do
      session.release(stream);
      return;
    }
    final Context.CancellableContext entered = context;
    if (entered != null) { // at once, not after the handler's present work
      try {
        executor().execute(() -> entered.cancel(cancelCause()));
      } catch (RuntimeException | Error e) { // which the signal meets, too
        entered.cancel(cancelCause()); // better on this thread than never
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

  /** Counts a message that the handler gets. */
  final void countMessage() {
    REQUESTED.getAndAdd(this, -1);
  }

  @Override
  public final MethodDescriptor<ReqT, RespT> getMethodDescriptor() {
    return method.getMethodDescriptor();
  }
}
