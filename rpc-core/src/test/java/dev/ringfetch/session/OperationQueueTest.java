package dev.ringfetch.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.session.poller.OwnerToken;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class OperationQueueTest {
  private static final int THREADS = 3;
  private static final int STREAMS = 16;
  private static final int ROUNDS = 60_000;

  private final OperationQueue queue = new OperationQueue();

  private List<Stream> takeAll() {
    List<Stream> taken = new ArrayList<>();
    Stream stream = queue.takeAll();
    while (stream != null) {
      Stream next = stream.nextOperation;
      stream.nextOperation = null;
      taken.add(stream);
      stream = next;
    }
    return taken;
  }

  @Test
  void allComeInTheOrderInWhichTheyAsked() {
    assertTrue(queue.isEmpty());
    assertNull(queue.takeAll());
    List<Stream> added = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      Stream stream = new TestStream(i);
      added.add(stream);
      queue.add(stream);
    }
    assertFalse(queue.isEmpty());
    assertEquals(added, takeAll());
    assertTrue(queue.isEmpty());
    queue.add(added.get(3));
    assertEquals(List.of(added.get(3)), takeAll());
  }

  @Test
  void streamIsQueuedOnceForManyRequests() {
    Stream stream = new TestStream(1);
    assertTrue(stream.request(1));
    assertFalse(stream.request(4));
    assertFalse(stream.request(1));
    assertEquals(5, stream.takeOperations());
    assertEquals(0, stream.takeOperations());
    assertTrue(stream.request(2));
  }

  /**
   * Threads ask, and the thread that gets the token serves, as in a session: no request is
   * forgotten.
   */
  @Test
  @Timeout(60)
  void noRequestIsForgotten() throws Exception {
    Stream[] streams = new Stream[STREAMS];
    for (int i = 0; i < STREAMS; i++) {
      streams[i] = new TestStream(i);
    }
    OwnerToken ownership = new OwnerToken();
    AtomicIntegerArray asked = new AtomicIntegerArray(STREAMS * THREADS);
    int[] served = new int[STREAMS * THREADS]; // the owner's: plain, so the token is tested, too
    AtomicInteger owners = new AtomicInteger();
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try {
      List<CompletableFuture<Void>> done = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        int thread = t;
        done.add(
            CompletableFuture.runAsync(
                () -> {
                  for (int round = 0; round < ROUNDS; round++) {
                    int index = round % STREAMS;
                    asked.incrementAndGet(index * THREADS + thread);
                    if (streams[index].request(1 << thread)) {
                      queue.add(streams[index]);
                    }
                    serve(ownership, asked, served, owners);
                  }
                },
                threads));
      }
      for (CompletableFuture<Void> one : done) {
        one.get(50, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
    assertTrue(queue.isEmpty());
    assertTrue(ownership.tryAcquire());
    for (int i = 0; i < served.length; i++) {
      assertEquals(asked.get(i), served[i], "a request that nobody served");
    }
  }

  private void serve(
      OwnerToken ownership, AtomicIntegerArray asked, int[] served, AtomicInteger owners) {
    do {
      if (!ownership.tryAcquire()) {
        return;
      }
      assertEquals(1, owners.incrementAndGet(), "owners");
      for (Stream stream : takeAll()) {
        int operations = stream.takeOperations();
        for (int thread = 0; thread < THREADS; thread++) {
          int slot = stream.id * THREADS + thread;
          if ((operations & (1 << thread)) != 0) {
            served[slot] = asked.get(slot); // requests of one bit merge
          }
        }
      }
      owners.decrementAndGet();
      ownership.release();
    } while (!queue.isEmpty());
  }
}
