package dev.ringfetch.call;

import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * The scheduler that {@code Context.withDeadline} asks for, without a schedule: the session watches
 * the deadline of every call already, and cancels the call's context when it passes.
 */
final class SessionTimer extends AbstractExecutorService implements ScheduledExecutorService {
  static final SessionTimer INSTANCE = new SessionTimer();

  private SessionTimer() {}

  @Override
  public ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
    return new Pending(unit.toNanos(delay));
  }

  @Override
  public <V> ScheduledFuture<V> schedule(Callable<V> callable, long delay, TimeUnit unit) {
    throw new UnsupportedOperationException();
  }

  @Override
  public ScheduledFuture<?> scheduleAtFixedRate(
      Runnable command, long initialDelay, long period, TimeUnit unit) {
    throw new UnsupportedOperationException();
  }

  @Override
  public ScheduledFuture<?> scheduleWithFixedDelay(
      Runnable command, long initialDelay, long delay, TimeUnit unit) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void execute(Runnable command) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void shutdown() {
    throw new UnsupportedOperationException();
  }

  @Override
  public List<Runnable> shutdownNow() {
    throw new UnsupportedOperationException();
  }

  @Override
  public boolean isShutdown() {
    return false;
  }

  @Override
  public boolean isTerminated() {
    return false;
  }

  @Override
  public boolean awaitTermination(long timeout, TimeUnit unit) {
    return false;
  }

  /** The future that the context keeps, and cancels when the call ends first. */
  private static final class Pending extends CompletableFuture<Void>
      implements ScheduledFuture<Void> {
    private final long delayNs;

    Pending(long delayNs) {
      this.delayNs = delayNs;
    }

    @Override
    public long getDelay(TimeUnit unit) {
      return unit.convert(delayNs, TimeUnit.NANOSECONDS);
    }

    @Override
    public int compareTo(Delayed other) {
      return Long.compare(delayNs, other.getDelay(TimeUnit.NANOSECONDS));
    }
  }
}
