package dev.ringfetch.index.cli;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The signal that ends the process, Ctrl-C for example: a command that checks it ends in order. The
 * process ends when the command has, or after {@value #WAIT_SECONDS} seconds. Thread-safe.
 */
final class StopSignal {
  /** How long the command may take to end. */
  private static final int WAIT_SECONDS = 7;

  /** A read that waits for input. */
  @FunctionalInterface
  interface Read<T> {
    T read() throws IOException;
  }

  private final CompletableFuture<Void> requested = new CompletableFuture<>();
  private final CountDownLatch ended = new CountDownLatch(1);
  private final ExecutorService input =
      Executors.newSingleThreadExecutor(
          task -> {
            final Thread thread = new Thread(task, "command-input");
            thread.setDaemon(true);
            return thread;
          });

  /** Creates the signal; the shutdown of this JVM sets it. */
  static StopSignal ofProcess() {
    final StopSignal signal = new StopSignal();
    Runtime.getRuntime().addShutdownHook(new Thread(signal::awaitEnd, "stop-command"));
    return signal;
  }

  private void awaitEnd() {
    request();
    try {
      ended.await(WAIT_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Sets the signal. */
  void request() {
    requested.complete(null);
  }

  /** Whether the command must end. */
  boolean isRequested() {
    return requested.isDone();
  }

  /** Waits for the signal; returns whether it came within a time. */
  boolean isRequestedWithin(long nanos) {
    try {
      requested.get(nanos, TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return true;
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Waits for input, which may never come, or for the signal. After the signal, the thread that
   * reads keeps waiting.
   *
   * @throws InterruptedIOException if the signal comes first.
   */
  <T> T await(Read<T> read) throws IOException {
    if (isRequested()) {
      throw new InterruptedIOException();
    }
    final CompletableFuture<T> done = new CompletableFuture<>();
    input.execute(
        () -> {
          try {
            done.complete(read.read());
          } catch (Throwable e) { // also an Error: the command waits for it
            done.completeExceptionally(e);
          }
        });
    try {
      CompletableFuture.anyOf(done, requested).get();
      if (!done.isDone()) {
        throw new InterruptedIOException();
      }
      return done.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException failure) {
        throw failure;
      }
      if (e.getCause() instanceof Error failure) {
        throw failure;
      }
      throw new IllegalStateException(e.getCause());
    }
  }

  /** Notes that the command has ended: the process need not wait any longer. */
  void ended() {
    ended.countDown();
  }
}
