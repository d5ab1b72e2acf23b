package dev.ringfetch.call;

import java.util.concurrent.Executor;

/**
 * The executor behind {@code directExecutor()} of the builders: runs callbacks on the polling
 * thread. A client's callbacks then run on the shared poller's thread, never on the stack of
 * another caller.
 */
public enum DirectExecutor implements Executor {
  /** The only instance. */
  INSTANCE;

  @Override
  public void execute(Runnable task) {
    task.run();
  }
}
