package dev.ringfetch.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class FreeListTest {
  @Test
  void isAStack() {
    long seed = Long.getLong("ringfetch.seed", 1);
    Random random = new Random(seed);
    FreeList list = new FreeList(50);
    Deque<Integer> model = new ArrayDeque<>();
    List<Integer> taken = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      taken.add(i);
    }
    for (int step = 0; step < 20_000; step++) {
      if (random.nextBoolean() && !taken.isEmpty()) {
        int index = taken.remove(random.nextInt(taken.size()));
        list.give(index);
        model.push(index);
      } else {
        Integer expected = model.poll();
        int index = list.take();
        assertEquals(expected == null ? FreeList.NONE : expected, index, () -> "seed=" + seed);
        if (expected != null) {
          taken.add(index);
        }
      }
    }
  }

  /** A take that was overtaken must notice, though the index that it saw is on top again. */
  @Test
  void theHeadIsNeverWhatItWas() {
    FreeList list = new FreeList(3);
    list.give(0);
    list.give(1);
    list.give(2);
    long seen = list.head.get();
    int top = list.take();
    int below = list.take();
    list.give(top);
    assertEquals(top, (int) list.head.get());
    assertNotEquals(seen, list.head.get(), "below it lies no longer " + below);
    seen = list.head.get();
    list.give(below);
    assertEquals(below, list.take());
    assertEquals(top, (int) list.head.get());
    assertNotEquals(seen, list.head.get());
  }

  @Test
  @Timeout(60)
  void indexIsNeverTakenTwice() throws Exception {
    int indexes = 4; // few, so that the same ones come back within a take
    FreeList list = new FreeList(indexes);
    AtomicIntegerArray owners = new AtomicIntegerArray(indexes);
    for (int i = 0; i < indexes; i++) {
      list.give(i);
    }
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<CompletableFuture<Void>> done = new ArrayList<>();
      for (int thread = 0; thread < 4; thread++) {
        done.add(CompletableFuture.runAsync(() -> takeAndGive(list, owners), threads));
      }
      for (CompletableFuture<Void> one : done) {
        one.get(50, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
    int left = 0;
    while (list.take() != FreeList.NONE) {
      left++;
    }
    assertEquals(indexes, left);
  }

  private static void takeAndGive(FreeList list, AtomicIntegerArray owners) {
    for (int round = 0; round < 100_000; round++) {
      int first = list.take();
      int second = list.take();
      for (int index : new int[] {first, second}) {
        if (index != FreeList.NONE) {
          assertTrue(owners.compareAndSet(index, 0, 1), "taken twice: " + index);
        }
      }
      for (int index : new int[] {first, second}) {
        if (index != FreeList.NONE) {
          owners.set(index, 0);
          list.give(index);
        }
      }
    }
  }
}
