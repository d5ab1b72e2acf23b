package dev.ringfetch.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.rpc.Experimental;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * A lock of this process that its threads take by the processor's atomics, and clients by calls.
 * The owner keeps the queue: waiters of each of the two cohorts, threads and clients, are served in
 * their order; the lock stays with one cohort for at most the {@linkplain
 * RegionsContext#lockBudget() budget} of grants in a row while the other one waits. A client whose
 * connection ends loses the lock. A thread that ends without releasing it does not, as with the
 * JDK's locks.
 *
 * <p>Safe for use by many threads. Not reentrant: each hold is one of its own.
 */
@Experimental
public final class OwnerLock implements Owned {
  private static final int HELD = 1;
  private static final int AWAITED = 2;
  private static final int FLAGS = HELD | AWAITED;
  private static final int FENCE_SHIFT = 2;

  private final Regions regions;
  private final String name;
  private final int budget;

  /**
   * The fence of the last grant, and two flags: held, and awaited. AWAITED implies HELD: a lock
   * with waiters is handed from its holder to one of them, and is not free meanwhile.
   */
  private final AtomicLong state;

  @GuardedBy("this")
  private final Deque<Waiter> threads = new ArrayDeque<>();

  @GuardedBy("this")
  private final Deque<Waiter> clients = new ArrayDeque<>();

  @GuardedBy("this")
  private boolean servesClients; // the cohort of the last grant to a waiter

  @GuardedBy("this")
  private int grants; // to it in a row, while the other one waited

  private volatile boolean closed; // set with the monitor held

  /** A thread or a client that waits for the lock. */
  interface Waiter extends Waiting {
    /** The lock is the waiter's from now on. Not called after {@link #forget} returned true. */
    void granted(LockHold hold);

    /** The name was taken back. */
    void refused(StatusRuntimeException reason);
  }

  OwnerLock(Regions regions, String name, int budget, long fence) {
    this.regions = regions;
    this.name = name;
    this.budget = budget;
    this.state = new AtomicLong(fence << FENCE_SHIFT);
  }

  /**
   * Acquires the lock for a thread of this process, and waits for it.
   *
   * @return empty if others held it all the time, or the thread was interrupted, which it still is.
   * @throws io.grpc.StatusRuntimeException NOT_FOUND after {@link #close}, RESOURCE_EXHAUSTED if
   *     1024 threads wait already.
   */
  public Optional<LockHold> acquire(Duration timeout) {
    final Hold hold = closed ? null : take();
    return hold != null ? Optional.of(hold) : await(timeout);
  }

  private Optional<LockHold> await(Duration timeout) {
    final WaitingThread waiter = new WaitingThread(Thread.currentThread());
    enter(waiter, false);
    final long endNs = System.nanoTime() + timeout.toNanos();
    long leftNs;
    while (!waiter.isOver()
        && (leftNs = endNs - System.nanoTime()) > 0
        && !Thread.currentThread().isInterrupted()) {
      LockSupport.parkNanos(this, leftNs);
    }
    if (!waiter.isOver() && forget(waiter)) {
      return Optional.empty();
    }
    return Optional.of(waiter.hold());
  }

  /** Whether the holder with this fence has the lock now. */
  public boolean isHeldBy(long fence) {
    final long now = state.get();
    return (now & HELD) != 0 && now >>> FENCE_SHIFT == fence;
  }

  /** Takes the lock if it is free; null if not. */
  private Hold take() {
    final long now = state.get();
    if ((now & HELD) == 0) {
      final long fence = (now >>> FENCE_SHIFT) + 1;
      if (state.compareAndSet(now, fence << FENCE_SHIFT | HELD)) {
        return new Hold(fence);
      }
    }
    return null;
  }

  /** Lets a waiter have the lock, now or when it comes to its turn. */
  void enter(Waiter waiter, boolean isClient) {
    final Hold hold;
    synchronized (this) {
      if (closed) {
        throw Regions.notFound(name);
      }
      hold = takeOrMark();
      if (hold == null) {
        final Deque<Waiter> cohort = isClient ? clients : threads;
        Waiting.checkRoom(name, cohort, waiter);
        cohort.add(waiter);
      }
    }
    if (hold != null) {
      waiter.granted(hold);
    }
  }

  /** Takes the lock if it is free; else marks it as awaited, and returns null. */
  @GuardedBy("this")
  private Hold takeOrMark() {
    while (true) {
      final Hold hold = take();
      if (hold != null) {
        return hold;
      }
      final long now = state.get();
      if ((now & HELD) != 0 && state.compareAndSet(now, now | AWAITED)) {
        return null;
      }
    }
  }

  /** Removes a waiter; false if it has been granted the lock, or refused, before. */
  synchronized boolean forget(Waiter waiter) {
    return threads.remove(waiter) || clients.remove(waiter);
  }

  private void release(long fence) {
    final long held = fence << FENCE_SHIFT | HELD;
    if (!state.compareAndSet(held, fence << FENCE_SHIFT)) {
      handOver(fence);
    }
  }

  /** Gives the lock of a holder to the next waiter, or frees it if all have gone. */
  private void handOver(long fence) {
    final Waiter next;
    final Hold hold;
    synchronized (this) {
      if (!isHeldBy(fence)) {
        return; // released before
      }
      next = next();
      if (next == null) {
        state.set(fence << FENCE_SHIFT);
        return;
      }
      hold = new Hold(fence + 1);
      final boolean awaited = !threads.isEmpty() || !clients.isEmpty();
      state.set(hold.fence << FENCE_SHIFT | HELD | (awaited ? AWAITED : 0));
    }
    next.granted(hold);
  }

  /** The next waiter: of the same cohort as before, unless that has used up its budget. */
  @GuardedBy("this")
  private Waiter next() {
    final Deque<Waiter> same = servesClients ? clients : threads;
    final Deque<Waiter> other = servesClients ? threads : clients;
    if (same.isEmpty() || (!other.isEmpty() && grants >= budget)) {
      servesClients ^= !other.isEmpty();
      grants = 0;
    }
    grants++;
    return (servesClients ? clients : threads).poll();
  }

  /** Takes the name back: waiters are refused, and the holder may finish. Idempotent. */
  @Override
  public void close() {
    regions.forget(name, this);
    final Deque<Waiter> refused = new ArrayDeque<>();
    synchronized (this) {
      closed = true;
      refused.addAll(threads);
      refused.addAll(clients);
      threads.clear();
      clients.clear();
    }
    refused.forEach(waiter -> waiter.refused(Regions.notFound(name)));
  }

  @Override
  public String toString() {
    final long now = state.get();
    return "OwnerLock[name="
        + name
        + " fence="
        + (now >>> FENCE_SHIFT)
        + " flags="
        + (now & FLAGS)
        + "]";
  }

  /** A hold of this lock, of a thread or of a client. */
  private final class Hold implements LockHold {
    private final long fence;

    Hold(long fence) {
      this.fence = fence;
    }

    @Override
    public long fence() {
      return fence;
    }

    @Override
    public boolean isHeld() {
      return isHeldBy(fence);
    }

    @Override
    public void close() {
      release(fence);
    }

    @Override
    public String toString() {
      return "LockHold[name=" + name + " fence=" + fence + " isHeld=" + isHeld() + "]";
    }
  }

  /** A thread of the owner that waits. */
  private final class WaitingThread implements Waiter {
    private final Thread thread;
    private volatile LockHold hold;
    private volatile boolean isRefused;

    WaitingThread(Thread thread) {
      this.thread = thread;
    }

    boolean isOver() {
      return hold != null || isRefused;
    }

    LockHold hold() {
      while (!isOver()) { // it was taken out of the queue, and learns why in a moment
        LockSupport.parkNanos(this, 1_000_000);
      }
      if (isRefused) {
        throw Regions.notFound(name);
      }
      return hold;
    }

    @Override
    public void granted(LockHold granted) {
      hold = granted;
      LockSupport.unpark(thread);
    }

    @Override
    public void refused(StatusRuntimeException reason) {
      isRefused = true;
      LockSupport.unpark(thread);
    }
  }
}
