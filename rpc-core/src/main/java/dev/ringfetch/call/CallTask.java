package dev.ringfetch.call;

import dev.ringfetch.session.poller.DeadlineTimer;
import dev.ringfetch.session.poller.Poller;
import io.grpc.ClientCall;
import io.grpc.Context;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;

/**
 * A call as its own task: whoever has something for the listener signals, and the call's executor
 * runs {@link #deliver} in the call's context, never twice at a time. A superclass and no object of
 * its own, so that a call allocates nothing for it.
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

  /** The task is with the executor, or runs. */
  private static final int RUNNING = 1;

  /** There is something to deliver. */
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

  /** Tells the listener what there is to tell. */
  abstract void deliver();

  /** Nobody delivers: lets go of what the task would have let go of. True to try again. */
  abstract boolean onRejected(Throwable e);

  /** Runs a call whose executor is direct; null when the call has no session. */
  abstract Poller poller();

  /** Lets {@link #deliver} run. Never throws because an executor does. */
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

  /** Listens to the context until {@link #stopWatching}; one that never ends costs nothing. */
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

  /** The call has ended: what would end it is not listened to any more. */
  final void stopWatching() {
    stopTimer();
    if (contextListener != null) {
      context.removeListener(contextListener);
    }
  }
}
