package dev.ringfetch.session;

/** Runs what others gave to be run: what that throws ends nothing here. */
final class Callbacks {
  private Callbacks() {}

  static void run(Runnable callback) {
    try {
      callback.run();
    } catch (Throwable t) { // the callback's, not the caller's
      report(t);
    }
  }

  /** Hands what a callback threw to the thread's handler. */
  static void report(Throwable thrown) {
    final Thread thread = Thread.currentThread();
    thread.getUncaughtExceptionHandler().uncaughtException(thread, thrown);
  }
}
