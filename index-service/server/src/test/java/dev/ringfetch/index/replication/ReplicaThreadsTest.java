package dev.ringfetch.index.replication;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.RecordDescriptor;
import dev.ringfetch.index.partition.Write;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Many threads at one replica, which leads alone: no write, barrier or record is forgotten. */
final class ReplicaThreadsTest {
  private static final int THREADS = 4;
  private static final int CALLS = 4_000;

  private final ReplicationWorld world =
      new ReplicationWorld(Long.getLong("ringfetch.seed", 29), 1, 1, new Coverage());
  private final AtomicInteger unexpected = new AtomicInteger();

  @Test
  void nothingIsForgotten() throws InterruptedException {
    world.time().run(300 * ReplicationWorld.MS);
    final SimulatedNode leader = world.leader();
    final CountDownLatch done = new CountDownLatch(THREADS);
    final List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      final int number = i;
      final Thread thread = new Thread(() -> call(leader, number, done), "caller " + i);
      threads.add(thread);
      thread.start();
    }
    assertTrue(done.await(30, TimeUnit.SECONDS), "a call was forgotten");
    for (final Thread thread : threads) {
      thread.join();
    }
    assertEquals(0, unexpected.get());
    world.checkErrors();
  }

  private void call(SimulatedNode node, int number, CountDownLatch done) {
    final Semaphore answered = new Semaphore(0);
    final Write write =
        new Write(
            ended -> {
              unexpected.addAndGet(ended.outcome() == Write.DONE ? 0 : 1);
              answered.release();
            });
    final Confirmation confirmation =
        new Confirmation() {
          @Override
          public void onConfirmed(boolean leads) {
            unexpected.addAndGet(leads ? 0 : 1);
            answered.release();
          }
        };
    for (int i = 0; i < CALLS; i++) {
      final ByteString key = ByteString.copyFromUtf8("k" + (i + number) % 7);
      switch (i % 8) {
        case 0, 1 -> node.replica().confirm(confirmation);
        case 2 -> {
          while (!node.store()
              .log()
              .append(RecordDescriptor.OPEN_CLIENT, 9, 1, committed -> answered.release())) {
            Thread.onSpinWait(); // full
          }
        }
        default -> {
          if (node.store().submit(write.put(key, key), key) != 0) {
            unexpected.incrementAndGet();
          }
        }
      }
      if (!await(answered)) {
        return;
      }
    }
    done.countDown();
  }

  private static boolean await(Semaphore answered) {
    try {
      return answered.tryAcquire(20, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
