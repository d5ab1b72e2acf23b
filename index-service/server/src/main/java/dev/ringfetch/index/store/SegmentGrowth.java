package dev.ringfetch.index.store;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.fabric.MemoryFaults;
import dev.ringfetch.fabric.MemoryRegion;
import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The preparation of segments ahead of their use: creates the next one, and touches each page, on
 * an executor. An owner that needs the segment earlier creates it itself, or waits if the executor
 * has begun.
 *
 * <table>
 *   <caption>States</caption>
 *   <tr><th>state<th>next
 *   <tr><td>IDLE<td>REQUESTED: memory runs short
 *   <tr><td>REQUESTED<td>RUNNING: the executor, or an owner that cannot wait for the executor
 *   <tr><td>RUNNING<td>READY: there is a segment; IDLE: the creation failed
 *   <tr><td>READY<td>IDLE: the segment is taken
 * </table>
 *
 * <p>After a failure the executor tries again, at most once per {@value #RETRY_MS} ms, while there
 * are requests.
 *
 * <p>Safe for use by many threads.
 */
final class SegmentGrowth {
  /** Time between two tries after a failure. */
  static final int RETRY_MS = 100;

  private static final int PAGE_LENGTH = 4096; // no page is shorter

  private enum State {
    IDLE,
    REQUESTED,
    RUNNING,
    READY
  }

  private final StoreMemory.SegmentSource source;
  private final int length;
  private final Executor executor;
  private final LongSupplier clock;

  @GuardedBy("this")
  private State state = State.IDLE;

  @GuardedBy("this")
  private MemoryRegion ready;

  @GuardedBy("this")
  private IOException failure;

  @GuardedBy("this")
  private long failureNs;

  @GuardedBy("this")
  private long late;

  /**
   * Creates the preparation.
   *
   * @param length of a segment in bytes
   * @param executor runs the creation of segments
   * @param clock nanoseconds since some moment
   */
  SegmentGrowth(
      StoreMemory.SegmentSource source, int length, Executor executor, LongSupplier clock) {
    this.source = source;
    this.length = length;
    this.executor = executor;
    this.clock = clock;
  }

  /** Asks for a segment that will be needed soon. */
  synchronized void request() {
    if (state != State.IDLE || (failure != null && !mayRetry())) {
      return;
    }
    become(State.REQUESTED);
    try {
      executor.execute(this::prepare);
    } catch (RejectedExecutionException | OutOfMemoryError e) { // take() does without it
      become(State.IDLE);
    }
  }

  @GuardedBy("this")
  private boolean mayRetry() {
    return clock.getAsLong() - failureNs >= TimeUnit.MILLISECONDS.toNanos(RETRY_MS);
  }

  /**
   * Returns the next segment; null if its creation has failed, see {@link #failure}, and was not
   * tried again yet.
   */
  synchronized @Nullable MemoryRegion take() {
    if (failure != null) {
      request();
      if (state != State.READY) {
        return null;
      }
    } else if (state != State.READY) {
      late++;
      if (state == State.IDLE) {
        become(State.REQUESTED);
      }
      prepare();
      awaitPrepared();
    }
    if (state != State.READY) {
      return null;
    }
    final MemoryRegion taken = ready;
    ready = null;
    become(State.IDLE);
    return taken;
  }

  private synchronized void awaitPrepared() {
    boolean interrupted = false;
    while (state == State.RUNNING) {
      try {
        wait();
      } catch (InterruptedException e) { // the creation continues and ends
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Creates the requested segment, unless another thread has begun. */
  private void prepare() {
    synchronized (this) {
      if (state != State.REQUESTED) {
        return;
      }
      become(State.RUNNING);
    }
    MemoryRegion created = null;
    IOException failed = null;
    try {
      created = create();
    } catch (IOException e) {
      failed = e;
    } catch (Throwable e) { // all failures: owners wait for the end
      failed = new IOException("a segment was not created: " + e.getMessage(), e);
    }
    synchronized (this) {
      ready = created;
      failure = failed;
      failureNs = clock.getAsLong();
      become(failed == null ? State.READY : State.IDLE);
      notifyAll();
    }
  }

  private MemoryRegion create() throws IOException {
    final MemoryRegion region = source.grow(length);
    if (region.length() < length) {
      throw new IOException("a segment is too short: length=" + region.length());
    }
    try {
      touch(region);
    } catch (InternalError e) { // unmapped already: the owner that uses it detects that
      MemoryFaults.absorb(region, e);
    }
    return region;
  }

  /** Stores into each page, so that the owner's first stores do not fault. */
  private static void touch(MemoryRegion region) {
    for (int i = 0; i < region.length(); i += PAGE_LENGTH) {
      region.putLong(i, 0);
    }
    region.verify();
  }

  /** The failure of the last request for a segment; null if it succeeded. */
  synchronized @Nullable IOException failure() {
    return failure;
  }

  /** How often an owner needed a segment before it was prepared. */
  synchronized long late() {
    return late;
  }

  @GuardedBy("this")
  private void become(State next) {
    final boolean legal =
        switch (next) {
          case REQUESTED -> state == State.IDLE;
          case RUNNING -> state == State.REQUESTED;
          case READY -> state == State.RUNNING;
          case IDLE -> state != State.IDLE;
        };
    if (!legal) {
      throw new IllegalStateException("state=" + state + " next=" + next);
    }
    state = next;
  }
}
