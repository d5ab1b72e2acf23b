package dev.ringfetch.call;

import dev.ringfetch.session.ClientSession;
import dev.ringfetch.session.poller.InlineTask;
import dev.ringfetch.session.poller.ProcessorTime;
import dev.ringfetch.timer.DeadlineTimer;
import io.grpc.ClientCall;
import io.grpc.Context;
import io.grpc.MethodDescriptor;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;

/**
 * A client call as its own task: a thread that has an event for the listener signals, and the
 * call's executor runs {@link #deliver} in the call's context, never twice at a time. Where the
 * executor is a {@link CallbackExecutor}, the poller's thread runs it instead if the method's
 * {@link TaskRecord} allows that. It is a superclass instead of a separate object, so that a call
 * allocates nothing for it.
 */
abstract class CallTask<ReqT, RespT> extends ClientCall<ReqT, RespT>
    implements InlineTask, Runnable {
  private static final VarHandle SIGNALS;

  static {
    try {
      SIGNALS = MethodHandles.lookup().findVarHandle(CallTask.class, "signals", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

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

  CallTask(MethodDescriptor<ReqT, RespT> method, Executor executor) {
    this.method = method;
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

  /** The session that the call is on; null when it has none. */
  abstract ClientSession session();

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

  /** The parts of the last run in the poller's thread. Called by the poller. */
  int inlineParts() {
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
  public final boolean isDoubtful() {
    return record.isDoubtful();
  }

  @Override
  public final void ranInline(long durationNs, long processorNs) {
    record.ranInline(durationNs, processorNs, inlineParts());
  }

  @Override
  public final void overran(boolean waits) {
    record.overran(waits);
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
}
