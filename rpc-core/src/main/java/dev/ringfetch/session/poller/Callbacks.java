package dev.ringfetch.session.poller;

/** Runs what others gave to be run: what that throws ends nothing here. */
public final class Callbacks {
  private Callbacks() {}

  /** Runs a callback, and hands what it throws to the thread's handler. Never throws. */
  public static void run(Runnable callback) {
    try {
      callback.run();
    } catch (Throwable t) { // the callback's, not the caller's
      report(t);
    }
  }

  /** Hands what a callback threw to the thread's handler. Never throws. */
  public static void report(Throwable thrown) {
    try {
      final Thread thread = Thread.currentThread();
      thread.getUncaughtExceptionHandler().uncaughtException(thread, thrown);
    } catch (Throwable t) {
      // The handler's own, for example for want of memory to print with.
    }
  }
}
