package dev.ringfetch.index.cli;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The signal that ends the process, Ctrl-C for example: a command that looks at it ends in order.
 * The process ends when the command has, or after {@value #WAIT_SECONDS} seconds. Thread-safe.
 */
final class StopSignal {
  /** How long the command may take to end. */
  private static final int WAIT_SECONDS = 7;

  private final CountDownLatch requested = new CountDownLatch(1);
  private final CountDownLatch ended = new CountDownLatch(1);

  /** Creates one that the signals of this process set. */
  static StopSignal ofProcess() {
    final StopSignal signal = new StopSignal();
    Runtime.getRuntime().addShutdownHook(new Thread(signal::await, "stop-command"));
    return signal;
  }

  private void await() {
    request();
    try {
      ended.await(WAIT_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Sets the signal. */
  void request() {
    requested.countDown();
  }

  /** Whether the command is to end. */
  boolean isRequested() {
    return requested.getCount() == 0;
  }

  /** Waits for the signal; returns whether it came within a time. */
  boolean isRequestedWithin(long nanos) {
    try {
      return requested.await(nanos, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return true;
    }
  }

  /** Called when the command has ended: the process need not wait any longer. */
  void ended() {
    ended.countDown();
  }
}
