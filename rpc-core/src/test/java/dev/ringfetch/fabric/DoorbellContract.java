package dev.ringfetch.fabric;

import static dev.ringfetch.fabric.FabricHarness.DEADLINE_NS;
import static dev.ringfetch.fabric.FabricHarness.LENGTH;
import static dev.ringfetch.fabric.FabricHarness.token;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.FabricHarness.Connection;
import dev.ringfetch.fabric.FabricHarness.Offered;
import dev.ringfetch.fabric.FabricHarness.Told;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Rings, and the sleep that they end. */
public abstract class DoorbellContract extends FabricContract {
  @Test
  void ringWakesASleeper() throws Exception {
    Connection connection = harness.connect("a");
    harness.settle();
    Thread ringer = new Thread(connection.client()::ringDoorbell);
    ringer.start();
    long startNs = System.nanoTime();
    while (connection.toldServer().rings == 0) {
      harness.serverBell.await(DEADLINE_NS);
      assertTrue(System.nanoTime() - startNs < DEADLINE_NS, "slept through a ring");
    }
    ringer.join();
    connection.server().ringDoorbell();
    harness.drive(() -> connection.toldClient().rings == 1);
  }

  @Test
  void unheardRingsMergeAndNeverBlock() throws IOException {
    Connection connection = harness.connect("a");
    for (int i = 0; i < 20_000; i++) {
      connection.client().ringDoorbell();
    }
    harness.drive(() -> connection.toldServer().rings > 0);
    harness.settle();
    int before = connection.toldServer().rings;
    connection.client().ringDoorbell();
    harness.drive(() -> connection.toldServer().rings > before);
  }

  @Test
  void noRingOfManyThreadsIsLost() throws Exception {
    Connection connection = harness.connect("a");
    int threads = 4;
    int rounds = 2_000;
    AtomicReference<Throwable> failure = new AtomicReference<>();
    List<Thread> ringers = new ArrayList<>();
    QueuePair client = connection.client();
    for (int t = 0; t < threads; t++) {
      int line = 64 * t;
      Thread ringer =
          new Thread(
              () -> {
                for (int round = 1; round <= rounds; round++) {
                  synchronized (client) { // one owner at a time
                    client.memory().putLongRelease(line, round);
                    while (client.write(line, 64) == QueuePair.SEND_QUEUE_FULL) {
                      Thread.onSpinWait();
                    }
                  }
                  client.ringDoorbell();
                }
              });
      ringer.setUncaughtExceptionHandler((thread, thrown) -> failure.set(thrown));
      ringers.add(ringer);
    }
    ringers.forEach(Thread::start);
    // The words are looked at after a ring only: a lost last ring leaves this asleep.
    MemoryRegion memory = connection.server().memory();
    Told told = connection.toldServer();
    boolean complete = false;
    long startNs = System.nanoTime();
    while (!complete) {
      int before = told.rings;
      while (told.rings == before) {
        harness.serverBell.await(DEADLINE_NS);
        assertTrue(System.nanoTime() - startNs < DEADLINE_NS, "a ring was lost");
      }
      complete = true;
      for (int t = 0; t < threads; t++) {
        complete &= memory.getLongAcquire(64 * t) == rounds;
      }
    }
    for (Thread ringer : ringers) {
      ringer.join();
    }
    assertEquals(null, failure.get());
  }

  @Test
  void whatHappenedBeforeBindIsTold() throws IOException {
    Offered offered = harness.offer(token("a"));
    QueuePair client = harness.connect(offered.offer.descriptor(), token("a"));
    harness.drive(() -> offered.arrived.size() == 1);
    client.ringDoorbell();
    client.close();
    harness.settle();
    Told told = new Told();
    offered.arrived.get(0).bind(told);
    harness.drive(() -> !told.ends.isEmpty());
    assertTrue(told.rings > 0, "the ring was lost");
  }

  @Test
  void ringAtOnceAfterTheArrivalIsHeard() throws IOException {
    for (int i = 0; i < 50; i++) {
      byte[] token = token("token " + i);
      Fabric.Offer offer =
          harness.server.offer(
              harness.serverBell,
              harness.client.hint(),
              LENGTH,
              token,
              queuePair -> {
                queuePair.bind(new Told());
                queuePair.ringDoorbell();
              });
      QueuePair client = harness.connect(offer.descriptor(), token);
      Told told = new Told();
      client.bind(told);
      harness.drive(() -> told.rings == 1);
      client.close();
    }
  }

  @Test
  void wakeupEndsTheCurrentOrTheNextAwait() throws Exception {
    harness.settle();
    long startNs = System.nanoTime();
    harness.serverBell.wakeup();
    assertEquals(0, harness.serverBell.await(DEADLINE_NS));
    Thread waker = new Thread(harness.serverBell::wakeup);
    waker.start();
    assertEquals(0, harness.serverBell.await(Doorbell.FOREVER));
    waker.join();
    assertTrue(System.nanoTime() - startNs < DEADLINE_NS, "slept through a wakeup");
  }

  @Test
  void awaitEndsWithItsTimeout() throws IOException {
    assertEquals(0, harness.serverBell.await(0));
    assertEquals(0, harness.serverBell.await(1));
    assertEquals(0, harness.serverBell.await(SHORT_NS));
    assertEquals(0, harness.serverBell.poll());
  }

  @Test
  void closingADoorbellEndsAnAwait() throws Exception {
    Doorbell doorbell = harness.server.openDoorbell();
    Thread closer = new Thread(doorbell::close);
    closer.start();
    assertDoesNotThrow(
        () -> {
          try {
            doorbell.await(Doorbell.FOREVER);
          } catch (IOException e) {
            // It was closed before the call.
          }
        });
    closer.join();
    assertThrows(IOException.class, doorbell::poll);
    assertThrows(
        IOException.class,
        () -> harness.server.offer(doorbell, harness.client.hint(), LENGTH, token("a"), q -> {}));
  }

  @Test
  void listenerMayPoll() throws IOException {
    Connection inner = harness.connect("inner");
    Offered offered = harness.offer(token("outer"));
    QueuePair client = harness.connect(offered.offer.descriptor(), token("outer"));
    harness.drive(() -> offered.arrived.size() == 1);
    int[] innerSeen = {0};
    offered
        .arrived
        .get(0)
        .bind(
            new QueuePair.Listener() {
              @Override
              public void onDoorbell() {
                inner.client().ringDoorbell();
                int before = inner.toldServer().rings;
                assertDoesNotThrow(
                    () -> {
                      while (inner.toldServer().rings == before) {
                        harness.serverBell.await(DEADLINE_NS);
                      }
                    });
                innerSeen[0]++;
              }

              @Override
              public void onDisconnected(String reason) {}
            });
    inner.client().ringDoorbell();
    client.ringDoorbell();
    harness.drive(() -> innerSeen[0] > 0);
    harness.settle();
    client.ringDoorbell();
    harness.drive(() -> innerSeen[0] > 1);
  }
}
