package dev.ringfetch.index.partition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Threads that meet at a partition's queue and token: nothing is left behind once they have all
 * returned, and there are never two owners, which {@link BookStore} checks.
 */
@Timeout(60)
final class PartitionThreadsTest {
  private static final ByteString VALUE = ByteString.copyFromUtf8("v");
  private static final int ROUNDS = 20_000;

  private final ConcurrentLinkedQueue<Throwable> errors = new ConcurrentLinkedQueue<>();
  private final ExecutorService threads = Executors.newFixedThreadPool(4);

  @AfterEach
  void end() {
    threads.shutdownNow();
  }

  /** A thread that enqueues meets one that releases the token. */
  @Test
  void noWriteIsLeftBehind() throws Exception {
    final BookStore store = new BookStore(1_000_000);
    final Partition partition =
        new Partition(store, new ImmediateLog(0), 8, errors::add, Handover.never());
    final Meeting meeting = new Meeting(2);
    run(
        2,
        thread -> {
          final ByteString key = key(thread);
          final AtomicInteger answers = new AtomicInteger();
          final Write write = new Write(answered -> answers.incrementAndGet());
          for (int round = 1; round <= ROUNDS; round++) {
            meeting.await();
            assertEquals(0, partition.submit(write.put(key, VALUE)));
            meeting.await();
            assertEquals(round, answers.get());
          }
        });
    assertEquals(0, store.reserved());
    final long newest = Math.max(store.read(key(0)).getVersion(), store.read(key(1)).getVersion());
    assertEquals(2 * ROUNDS, newest);
  }

  /** A thread that commits meets one that releases the token. */
  @Test
  @SuppressWarnings("ThreadPriorityCheck") // or the log would have no core
  void noCommitIsLeftBehind() throws Exception {
    final BookStore store = new BookStore(1_000_000);
    try (LaterLog log = new LaterLog(0)) {
      final Partition partition = new Partition(store, log, 8, errors::add, Handover.never());
      final AtomicBoolean answered = new AtomicBoolean();
      final Write write = new Write(put -> answered.set(true));
      for (int round = 0; round < ROUNDS; round++) {
        answered.set(false);
        assertEquals(0, partition.submit(write.put(key(0), VALUE)));
        final long limitNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!answered.get()) {
          Thread.yield();
          assertTrue(System.nanoTime() < limitNs, "left behind in round " + round);
        }
      }
    }
    assertEquals(List.of(), List.copyOf(errors));
  }

  /** Threads that submit meet one that closes: each write is answered, and the end is told last. */
  @Test
  void closeLeavesNothingBehind() throws Exception {
    for (int round = 0; round < 200; round++) {
      final BookStore store = new BookStore(1_000_000);
      final Partition partition =
          new Partition(store, new ImmediateLog(0), 8, errors::add, Handover.never());
      final AtomicInteger open = new AtomicInteger();
      final AtomicBoolean closed = new AtomicBoolean();
      final CyclicBarrier begin = new CyclicBarrier(3);
      run(
          3,
          thread -> {
            begin.await();
            for (int i = 0; i < 20; i++) {
              if (thread == 0 && i == 10) {
                partition.close(() -> closed.set(true));
              }
              open.incrementAndGet();
              final Write write = new Write(answered -> open.decrementAndGet());
              if (partition.submit(write.put(key(thread), VALUE)) != 0) {
                open.decrementAndGet();
              }
            }
          });
      assertEquals(0, open.get());
      assertTrue(closed.get());
      assertEquals(0, store.reserved());
    }
  }

  private static ByteString key(int number) {
    return ByteString.copyFromUtf8("k" + number);
  }

  private void run(int count, Body body) throws Exception {
    final Future<?>[] running = new Future<?>[count];
    for (int i = 0; i < count; i++) {
      final int thread = i;
      running[i] =
          threads.submit(
              () -> {
                body.run(thread);
                return null;
              });
    }
    for (final Future<?> one : running) {
      one.get(40, TimeUnit.SECONDS);
    }
    assertEquals(List.of(), List.copyOf(errors));
  }

  /** What a thread does. */
  private interface Body {
    void run(int thread) throws Exception;
  }

  /** A point that threads leave at the same time, as far as they have a core each. */
  private static final class Meeting {
    private final int size;
    private final AtomicInteger arrivals = new AtomicInteger();

    Meeting(int size) {
      this.size = size;
    }

    @SuppressWarnings("ThreadPriorityCheck") // or the others would have no core
    void await() {
      final int all = (arrivals.getAndIncrement() / size + 1) * size;
      final long limitNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
      for (int i = 1; arrivals.get() < all; i++) {
        if (i % 1_000 == 0) {
          Thread.yield();
          if (System.nanoTime() > limitNs) {
            throw new AssertionError("alone");
          }
        }
      }
    }
  }
}
