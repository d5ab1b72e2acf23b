package dev.ringfetch.call;

import dev.ringfetch.session.poller.Poller;
import dev.ringfetch.timer.DeadlineTimer;
import io.grpc.ClientCall;
import io.grpc.Context;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;

/**
 * A client call as its own task: a thread that has an event for the listener signals, and the
 * call's executor runs {@link #deliver} in the call's context, never twice at a time. It is a
 * superclass instead of a separate object, so that a call allocates nothing for it.
 */
abstract class CallTask<ReqT, RespT> extends ClientCall<ReqT, RespT> implements Runnable {
  private static final VarHandle SIGNALS;

  static {
    try {
      SIGNALS = MethodHandles.lookup().findVarHandle(CallTask.class, "signals", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** Signal: the task is queued in the executor, or runs. */
  private static final int RUNNING = 1;

  /** Signal: there is something to deliver. */
  private static final int DELIVER = 2;

  private final Executor executor;
  private final Context context = Context.current();

  private Context.CancellationListener contextListener;
  private Future<?> timer;

  @SuppressWarnings("unused") // through SIGNALS
  private volatile int signals;

  CallTask(Executor executor) {
    this.executor = executor;
  }

  /** The context in which the call was made, and in which its listener runs. */
  protected final Context context() {
    return context;
  }

  /** The executor that runs the listener. */
  protected final Executor executor() {
    return executor;
  }

  /** Delivers the pending events to the listener. */
  abstract void deliver();

  /**
   * Called when the executor rejects the task: releases what the task would have released. True to
   * try again.
   */
  abstract boolean onRejected(Throwable e);

  /** The poller that runs the call if its executor is direct; null when the call has no session. */
  abstract Poller poller();

  /** Schedules {@link #deliver}. Exceptions of the executor are not thrown on. */
  final void signal() {
    if (((int) SIGNALS.getAndBitwiseOr(this, RUNNING | DELIVER) & RUNNING) != 0) {
      return;
    }
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
    final Poller poller = executor == DirectExecutor.INSTANCE ? poller() : null;
    if (poller == null) {
      executor.execute(this);
    } else {
      poller.execute(this);
    }
  }

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
