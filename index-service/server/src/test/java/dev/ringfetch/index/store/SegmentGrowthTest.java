package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.MemoryRegion;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When segments are created, and by which thread. */
@Timeout(60)
class SegmentGrowthTest {
  private static final int SEGMENT_LENGTH = 1 << 20;
  private static final int SEGMENTS = 8;
  private static final ByteString VALUE = ByteString.copyFrom(new byte[1000]);

  private final Deque<Runnable> tasks = new ArrayDeque<>();
  private int created;
  private boolean inTask;
  private boolean full;
  private long nowNs;
  private int entries;

  private StoreMemory memory() {
    return Memories.serving(
        Memories.context(SEGMENT_LENGTH, (long) SEGMENTS * SEGMENT_LENGTH)
            .segmentSource(this::create)
            .growth(tasks::add)
            .clock(() -> nowNs));
  }

  private MemoryRegion create(int length) throws IOException {
    if (full) {
      throw new IOException("No space left on device");
    }
    assertTrue(created == 0 || inTask, "created by the owner");
    created++;
    return new DirectRegion(length);
  }

  private void runTasks() {
    while (!tasks.isEmpty()) {
      inTask = true;
      tasks.remove().run();
      inTask = false;
    }
  }

  private int put(HashIndex index) {
    final ByteString key = ByteString.copyFromUtf8("key " + entries);
    final PartitionStore store = index.partition(index.partitionOf(key));
    final int reserved = store.reserve(key.size(), VALUE.size());
    if (reserved == 0) {
      entries++;
      store.put(key, VALUE, entries);
      store.grow();
    }
    return reserved;
  }

  /** The next segment is asked for before it is needed, never beyond the budget. */
  @Test
  void ownersFindSegmentsReady() {
    final StoreMemory memory = memory();
    final HashIndex index = new HashIndex(memory, 1);
    while (put(index) == 0) {
      runTasks();
    }
    assertEquals(SEGMENTS, created);
    assertEquals(SEGMENTS, memory.segments());
    assertTrue(memory.isAtLimit());
    assertNull(memory.growthFailure());
    assertEquals(1, memory.lateGrowths(), "the first segment alone");
  }

  /** An owner that is faster than the executor does the task of it. */
  @Test
  void ownerDoesNotWaitForATaskThatHasNotBegun() {
    final StoreMemory memory = memory();
    final HashIndex index = new HashIndex(memory, 1);
    inTask = true;
    while (put(index) == 0) {
      assertTrue(tasks.size() <= SEGMENTS);
    }
    assertEquals(SEGMENTS, memory.segments());
    runTasks();
    assertEquals(SEGMENTS, created, "tasks that came too late create nothing");
  }

  /** What failed is told, and tried again. */
  @Test
  void failureIsToldAndTriedAgain() {
    final StoreMemory memory = memory();
    final HashIndex index = new HashIndex(memory, 1);
    full = true;
    int reserved;
    do {
      reserved = put(index);
      runTasks();
    } while (reserved == 0);
    assertEquals(PartitionStore.FULL, reserved);
    assertEquals("No space left on device", memory.growthFailure().getMessage());
    assertTrue(!memory.isAtLimit());
    full = false;
    assertEquals(PartitionStore.FULL, put(index));
    assertTrue(tasks.isEmpty(), "not at once again");
    nowNs += TimeUnit.MILLISECONDS.toNanos(SegmentGrowth.RETRY_MS);
    assertEquals(PartitionStore.FULL, put(index));
    runTasks();
    assertEquals(0, put(index));
    assertNull(memory.growthFailure());
    while (put(index) == 0) {
      runTasks();
    }
    assertTrue(memory.isAtLimit());
  }

  /** An owner waits for a creation that another thread has begun; none is created twice. */
  @Test
  void ownerWaitsForACreationUnderWay() throws Exception {
    final CountDownLatch begun = new CountDownLatch(1);
    final ExecutorService thread = Executors.newSingleThreadExecutor();
    try {
      final StoreMemory memory =
          Memories.serving(
              Memories.context(SEGMENT_LENGTH, (long) SEGMENTS * SEGMENT_LENGTH)
                  .segmentSource(
                      length -> {
                        if (created++ == 1) {
                          begun.countDown();
                          sleep();
                        }
                        return new DirectRegion(length);
                      })
                  .growth(thread));
      final HashIndex index = new HashIndex(memory, 1);
      while (memory.segments() == 1) {
        assertEquals(0, put(index));
        if (entries == 600) { // asked for by now
          assertTrue(begun.await(20, TimeUnit.SECONDS));
        }
      }
      assertEquals(2, memory.segments());
      assertNotNull(memory.segment(1));
      assertEquals(2, memory.lateGrowths());
      assertEquals(2, created);
    } finally {
      thread.shutdownNow();
    }
  }

  private static void sleep() {
    try {
      Thread.sleep(100);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
