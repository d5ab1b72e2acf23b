package dev.ringfetch.session.poller;

/** Runner of foreign callbacks, whose exceptions do not affect the caller. */
public final class Callbacks {
  private Callbacks() {}

  /** Runs a callback, and passes its exception to the thread's handler. Never throws. */
  public static void run(Runnable callback) {
    try {
      callback.run();
    } catch (Throwable t) { // the callback's exception, not the caller's
      report(t);
    }
  }

  /** Passes a callback's exception to the thread's handler. Never throws. */
  public static void report(Throwable thrown) {
    try {
      final Thread thread = Thread.currentThread();
      thread.getUncaughtExceptionHandler().uncaughtException(thread, thrown);
    } catch (Throwable t) {
      // The handler's own exception, for example for lack of memory to print.
    }
  }
}
