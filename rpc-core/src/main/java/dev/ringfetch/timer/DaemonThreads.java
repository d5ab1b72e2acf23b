package dev.ringfetch.timer;

/**
 * Creator of the process's threads that may run code of any application: daemons that inherit
 * neither the class loader nor the inheritable thread locals of the thread that needs them first.
 */
public final class DaemonThreads {
  private DaemonThreads() {}

  /** Creates a thread, which is not started. */
  public static Thread create(Runnable task, String name) {
    final Thread thread = new Thread(null, task, name, 0, false);
    thread.setDaemon(true);
    thread.setContextClassLoader(DaemonThreads.class.getClassLoader());
    return thread;
  }
}
