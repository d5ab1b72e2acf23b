package dev.ringfetch.timer;

import java.security.AccessController;
import java.security.PrivilegedAction;

/**
 * Creator of the process's threads that may run code of any application: daemons that inherit
 * nothing of the thread that needs them first, neither its class loader, inheritable thread locals
 * and thread group, nor (before Java 24) its access control context, which refers to the class
 * loaders of all its callers.
 */
public final class DaemonThreads {
  private DaemonThreads() {}

  /** Creates a thread, which is not started. */
  @SuppressWarnings("removal") // Java 17 has no other way to leave the caller's context behind
  public static Thread create(Runnable task, String name) {
    return AccessController.doPrivileged(
        (PrivilegedAction<Thread>) () -> createPrivileged(task, name));
  }

  private static Thread createPrivileged(Runnable task, String name) {
    final Thread thread = new Thread(rootGroup(), task, name, 0, false);
    thread.setDaemon(true);
    thread.setContextClassLoader(DaemonThreads.class.getClassLoader());
    return thread;
  }

  private static ThreadGroup rootGroup() {
    ThreadGroup group = Thread.currentThread().getThreadGroup();
    while (group.getParent() != null) {
      group = group.getParent();
    }
    return group;
  }
}
