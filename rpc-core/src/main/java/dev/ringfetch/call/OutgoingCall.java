package dev.ringfetch.call;

import dev.ringfetch.session.ClientSession;
import dev.ringfetch.session.owner.SharedField;
import dev.ringfetch.session.poller.InlineTask;
import dev.ringfetch.session.poller.ProcessorTime;
import dev.ringfetch.timer.DeadlineTimer;
import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Compressor;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Decompressor;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;

/**
 * The base of all kinds of client calls, and the call's own task: a thread that has an event for
 * the listener signals, and the call's executor runs {@link #deliver} in the call's context, never
 * twice at a time. Where the executor is a {@link CallbackExecutor}, the poller's thread runs it
 * instead if the method's {@link TaskRecord} allows that. It is a superclass instead of a separate
 * object, so that a call allocates nothing for it.
 */
abstract class OutgoingCall<ReqT, RespT> extends ClientCall<ReqT, RespT>
    implements InlineTask, Runnable {
  private static final VarHandle SIGNALS =
      SharedField.of(MethodHandles.lookup(), "signals", int.class);
  private static final VarHandle REQUESTED =
      SharedField.of(MethodHandles.lookup(), "requested", int.class);

  /** Signal: the task is queued in the executor or at the poller, or runs. */
  private static final int RUNNING = 1;

  /** Signal: there is something to deliver. */
  private static final int DELIVER = 2;

  final MethodDescriptor<ReqT, RespT> method;
  private final Executor executor;
  private final Context context = Context.current();

  // Owned by the task.
  private TaskRecord record; // null: it has not been offered to a poller
  private InlineTask nextInLine;

  private Context.CancellationListener contextListener;
  private Future<?> timer;

  @SuppressWarnings("unused") // through SIGNALS
  private volatile int signals;

  CallOptions options;

  ClientConnection connection;
  ClientLimits limits;
  Deadline deadline;
  long startedNs;

  /** The compression; null while messages are not compressed. */
  Encoding encoding;

  @SuppressWarnings("unused") // through REQUESTED
  private volatile int requested;

  OutgoingCall(MethodDescriptor<ReqT, RespT> method, CallOptions options, Executor executor) {
    this.method = method;
    this.options = options;
    this.executor = executor;
  }

  /** The context in which the call was made, and in which its listener runs. */
  protected final Context context() {
    return context;
  }

  /** The executor that runs the listener. */
  public final Executor executor() {
    return executor;
  }

  /** Delivers the pending events to the listener. */
  abstract void deliver();

  /**
   * Called when the executor rejects the task: releases what the task would have released. True to
   * try again.
   */
  abstract boolean onRejected(Throwable e);

  /** Ends the call with a status, if it has not ended before. Any thread. */
  abstract void cancelNow(Status status);

  /** The session that the call is on; null when it has none. */
  final ClientSession session() {
    return connection == null ? null : connection.session();
  }

  /** Schedules {@link #deliver}. Exceptions of the executor are not thrown on. */
  final void signal() {
    if (((int) SIGNALS.getAndBitwiseOr(this, RUNNING | DELIVER) & RUNNING) == 0 && !offer()) {
      handOver();
    }
  }

  /** Queues the task on the poller, if this is the poller's thread and the method is trusted. */
  private boolean offer() {
    final ClientSession session = session();
    if (session == null || !(executor instanceof CallbackExecutor ours)) {
      return false;
    }
    if (record == null) {
      record = ours.record(method);
    }
    return record.isTrusted() && session.offer(this);
  }

  @Override
  public final void handOver() {
    boolean again;
    do {
      try {
        execute();
        return;
      } catch (RuntimeException | Error e) { // rejected, or there is no thread to be had
        SIGNALS.getAndBitwiseAnd(this, RUNNING);
        again = onRejected(e);
        if (again) {
          SIGNALS.getAndBitwiseOr(this, DELIVER);
        }
      }
    } while (again || !SIGNALS.compareAndSet(this, RUNNING, 0)); // signalled again meanwhile
  }

  private void execute() {
    final ClientSession session = executor == DirectExecutor.INSTANCE ? session() : null;
    if (session == null) {
      executor.execute(this);
    } else {
      session.poller().execute(this);
    }
  }

  @Override
  public final void run() {
    final TaskRecord timed = record; // as long as this thread owns the task
    if (timed == null || timed.isTrusted()) {
      deliverSignalled(false);
      return;
    }
    final ClientSession session = session();
    final long startNs = session.nanoTime();
    final long processorNs = timed.isDoubtful() ? ProcessorTime.nowNs() : ProcessorTime.UNKNOWN;
    final int parts = deliverSignalled(false);
    final long durationNs = session.nanoTime() - startNs;
    timed.ranElsewhere(durationNs, ProcessorTime.sinceNs(processorNs, durationNs), parts);
  }

  @Override
  public final void runInline() {
    deliverSignalled(true);
  }

  /**
   * Delivers until there is nothing left, or the turn is over: then the executor continues.
   *
   * @return in how many parts, at least 1.
   */
  private int deliverSignalled(boolean inline) {
    int parts;
    boolean over = false;
    final Context before = context.attach();
    try {
      onRun(inline);
      do {
        while (!over && ((int) SIGNALS.getAndBitwiseAnd(this, RUNNING) & DELIVER) != 0) {
          deliver();
          over = isTurnOver();
        }
        parts = countParts(); // first: another thread may own the task afterwards
      } while (!over && !SIGNALS.compareAndSet(this, RUNNING, 0));
    } finally {
      context.detach(before);
    }
    if (over) {
      SIGNALS.getAndBitwiseOr(this, DELIVER);
      handOver();
    }
    return parts;
  }

  /**
   * Called when the task begins to run.
   *
   * @param inline whether in the poller's thread, where its turn is limited.
   */
  void onRun(boolean inline) {}

  /** True when the poller's thread has delivered for so long that others have their turn. */
  boolean isTurnOver() {
    return false;
  }

  /** Counts the parts of the run so far, at least 1: each has callbacks of its own. */
  int countParts() {
    return 1;
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

  /** Listens to the context until {@link #stopWatching}; costs nothing for one that never ends. */
  final void watchContext(Context.CancellationListener listener) {
    contextListener = listener;
    context.addListener(listener, DirectExecutor.INSTANCE);
  }

  /** Runs a task when the time is over, unless {@link #stopTimer} comes first. */
  final void startTimer(Runnable task, long delayNs) {
    timer = DeadlineTimer.schedule(task, delayNs);
  }

  final void stopTimer() {
    if (timer != null) {
      timer.cancel(false);
    }
  }

  /** Stops listening to the context and the timer, because the call has ended. */
  final void stopWatching() {
    stopTimer();
    if (contextListener != null) {
      context.removeListener(contextListener);
    }
  }

  /**
   * Writes into the headers how messages will be compressed, if the options ask for that.
   *
   * @return why they cannot be, or null.
   */
  final Status tellEncoding(Metadata headers) {
    if (!Sections.isEmpty(headers)) {
      headers.discardAll(Encoding.NAME); // the options set it, not the caller's headers
    }
    final String name = options.getCompressor();
    if (name == null) {
      return null;
    }
    final Compressor compressor = connection.codecs().compressors().lookupCompressor(name);
    if (compressor == null) {
      return Status.INTERNAL.withDescription("Unable to find compressor by name " + name);
    }
    if (Encoding.orNone(compressor) != null) {
      encoding = new Encoding();
      encoding.compressor(compressor);
      headers.put(Encoding.NAME, compressor.getMessageEncoding());
    }
    return null;
  }

  /**
   * Reads from a response's headers how its messages are compressed.
   *
   * @return why they cannot be read, or null.
   */
  final Status learnEncoding(Metadata headers) {
    final String name = headers.get(Encoding.NAME);
    if (name == null) {
      return null;
    }
    final Decompressor decompressor = connection.codecs().decompressors().lookupDecompressor(name);
    if (decompressor == null) {
      return Status.INTERNAL.withDescription("Can't find decompressor for " + name);
    }
    if (encoding == null) {
      encoding = new Encoding();
    }
    encoding.decompressor(Encoding.orNone(decompressor));
    return null;
  }

  final boolean canDecompress() {
    return encoding != null && encoding.canDecompress();
  }

  /** Counts messages that the listener requests; returns how many it was waiting for before. */
  final int addRequested(int numMessages) {
    if (numMessages < 0) {
      throw new IllegalArgumentException("numMessages=" + numMessages);
    }
    final int before = (int) REQUESTED.getAndAdd(this, numMessages);
    if (before + numMessages < 0) {
      REQUESTED.setVolatile(this, Integer.MAX_VALUE);
    }
    return before;
  }

  /** True when the listener has asked for a message that it has not got. */
  final boolean wantsMessage() {
    return requested > 0;
  }

  /** Counts a message that the listener gets. */
  final void countMessage() {
    REQUESTED.getAndAdd(this, -1);
  }

  /**
   * Takes the number of messages requested since the last time, to request them of another call.
   */
  protected final int takeRequested() {
    return (int) REQUESTED.getAndSet(this, 0);
  }

  @Override
  public void cancel(String message, Throwable cause) {
    final Status status =
        Status.CANCELLED.withDescription(
            message != null ? message : "Call cancelled without message");
    cancelNow(cause == null ? status : status.withCause(cause));
  }

  /** The status of a call that has passed its deadline. */
  final Status exceeded() {
    return Deadlines.exceeded(deadline, options, startedNs, connection.session().describe());
  }

  private boolean isLate() {
    return deadline != null && deadline.isExpired();
  }

  /**
   * Returns the status to report: DEADLINE_EXCEEDED once the deadline has passed, as a cancel then
   * comes too late.
   */
  final Status orExceeded(Status status) {
    return isLate() && status.getCode() == Status.Code.CANCELLED ? exceeded() : status;
  }

  /** The status of a call on a session that has ended. */
  final Status sessionEnded() {
    return isLate()
        ? exceeded()
        : Status.UNAVAILABLE.withDescription(
            "ring session ended: " + connection.session().endReason());
  }

  /**
   * True when the server has noticed first that the deadline has passed.
   *
   * @param closed whether it came as a CLOSE, which no handler sends.
   */
  final boolean isLate(Status received, boolean closed) {
    return switch (received.getCode()) {
      case DEADLINE_EXCEEDED -> deadline != null && closed;
      case CANCELLED -> isLate();
      default -> false;
    };
  }

  /** Closes the listener; nothing is delivered to it afterwards. */
  final void tellClosed(Listener<RespT> listener, Status status, Metadata trailers) {
    try {
      listener.onClose(status, trailers);
    } catch (RuntimeException e) {
      log("failure in onClose of", e);
    } catch (Error e) {
      log("failure in onClose of", e);
      throw e;
    }
  }

  final void log(String what, Throwable e) {
    System.getLogger(OutgoingCall.class.getName())
        .log(System.Logger.Level.WARNING, what + " " + method.getFullMethodName(), e);
  }

  @Override
  public void setMessageCompression(boolean enabled) {
    if (encoding != null) {
      encoding.enabled(enabled);
    }
  }

  @Override
  public Attributes getAttributes() {
    return connection == null ? Attributes.EMPTY : connection.attributes();
  }
}
