package dev.ringfetch.call;

import java.util.concurrent.Executor;

/**
 * What {@code directExecutor()} of the builders means: callbacks run in the thread that polls. A
 * client's callbacks then run in the shared poller's thread, never on the stack of another caller.
 */
public enum DirectExecutor implements Executor {
  /** The only one. */
  INSTANCE;

  @Override
  public void execute(Runnable task) {
    task.run();
  }
}
