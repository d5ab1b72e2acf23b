package dev.ringfetch.fabric;

import static dev.ringfetch.fabric.FabricHarness.DEADLINE_NS;
import static dev.ringfetch.fabric.FabricHarness.LENGTH;
import static dev.ringfetch.fabric.FabricHarness.token;
import static dev.ringfetch.fabric.QueuePair.CLOSED;
import static dev.ringfetch.fabric.QueuePair.FLUSHED;
import static dev.ringfetch.fabric.QueuePair.POSTED;
import static dev.ringfetch.fabric.QueuePair.SEND_QUEUE_FULL;
import static dev.ringfetch.fabric.QueuePair.SUCCESS;
import static dev.ringfetch.fabric.QueuePair.UNSIGNALED;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.FabricHarness.Connection;
import dev.ringfetch.fabric.FabricHarness.Offered;
import dev.ringfetch.fabric.FabricHarness.Told;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What every fabric keeps. One subclass a provider says how to open it. */
public abstract class FabricContract {
  private static final long SHORT_NS = TimeUnit.MILLISECONDS.toNanos(200);

  protected FabricHarness harness;

  /** Opens a fabric; all fabrics of one test can reach each other. */
  protected abstract Fabric openFabric() throws IOException;

  @BeforeEach
  void openHarness() throws IOException {
    harness = new FabricHarness(openFabric(), openFabric());
  }

  @AfterEach
  void closeHarness() {
    harness.close();
  }

  @Test
  void bothSidesReachTheSameMemory() throws IOException {
    Connection connection = harness.connect("a");
    for (QueuePair side : List.of(connection.server(), connection.client())) {
      assertEquals(LENGTH, side.memory().length());
      assertEquals(LENGTH, side.remote().length());
      assertFalse(side.peer().contains("\n"));
      assertNotNull(side.capabilities());
    }
    assertTrue(connection.toldServer().ends.isEmpty());
    assertTrue(connection.toldClient().ends.isEmpty());
  }

  @Test
  void memoryIsZeroed() throws IOException {
    Offered offered = harness.offer(token("a"));
    assertZeroed(offered.offer.memory());
    assertZeroed(harness.connect("b").client().memory());
  }

  private static void assertZeroed(MemoryRegion memory) {
    byte[] bytes = new byte[memory.length()];
    memory.getBytes(0, bytes, 0, bytes.length);
    assertArrayEquals(new byte[memory.length()], bytes);
  }

  @Test
  void wrongTokenIsRefusedAndNobodyElseDisturbed() throws IOException {
    Connection other = harness.connect("other");
    Offered offered = harness.offer(token("right"));
    byte[] descriptor = offered.offer.descriptor();
    assertThrows(IOException.class, () -> harness.connect(descriptor, token("wrong")));
    assertTrue(offered.arrived.isEmpty());

    assertNotNull(harness.connect(descriptor, token("right")));
    assertEquals(1, offered.arrived.size());
    other.client().ringDoorbell();
    harness.drive(() -> other.toldServer().rings > 0);
    assertTrue(other.toldServer().ends.isEmpty());
    assertTrue(other.toldClient().ends.isEmpty());
  }

  @Test
  void offerIsTakenOnce() throws IOException {
    Offered offered = harness.offer(token("a"));
    byte[] descriptor = offered.offer.descriptor();
    assertNotNull(harness.connect(descriptor, token("a")));
    assertThrows(IOException.class, () -> harness.connect(descriptor, token("a")));
    assertEquals(1, offered.arrived.size());
  }

  @Test
  void withdrawnOfferIsNotReached() throws IOException {
    Offered offered = harness.offer(token("a"));
    byte[] descriptor = offered.offer.descriptor();
    offered.offer.close();
    offered.offer.close();
    assertThrows(IOException.class, () -> harness.connect(descriptor, token("a")));
    assertTrue(offered.arrived.isEmpty());
  }

  @Test
  void offerClosedAfterItWasTakenChangesNothing() throws IOException {
    Connection connection = harness.connect("a");
    connection.offered().offer.close();
    harness.settle();
    assertTrue(connection.toldClient().ends.isEmpty());
    assertEquals(POSTED, connection.client().write(0, 64));
  }

  @Test
  void connectGivesUpInTime() throws IOException {
    Offered offered = harness.offer(token("a"));
    Future<QueuePair> connected =
        harness.connectUndriven(offered.offer.descriptor(), token("a"), SHORT_NS);
    assertThrows(IOException.class, () -> FabricHarness.result(connected));
  }

  @Test
  void malformedDescriptorIsRefused() throws IOException {
    byte[] descriptor = harness.offer(token("a")).offer.descriptor();
    byte[] longer = Arrays.copyOf(descriptor, descriptor.length + 1);
    byte[] shorter = Arrays.copyOf(descriptor, descriptor.length - 1);
    for (byte[] bad : List.of(new byte[0], "nonsense".getBytes(UTF_8), longer, shorter)) {
      assertThrows(IOException.class, () -> harness.connect(bad, token("a")));
    }
  }

  @Test
  void otherHintIsRefusedWithAReason() {
    IOException refusal =
        assertThrows(
            IOException.class,
            () ->
                harness.server.offer(
                    harness.serverBell, new byte[] {1}, LENGTH, token("a"), peer -> {}));
    assertNotNull(refusal.getMessage());
  }

  @Test
  void lengthsAndTokensAreChecked() {
    byte[] hint = harness.client.hint();
    for (int length : new int[] {-64, 0, 63, 65}) {
      assertThrows(
          IllegalArgumentException.class,
          () -> harness.server.offer(harness.serverBell, hint, length, token("a"), peer -> {}));
    }
    assertThrows(
        IllegalArgumentException.class,
        () -> harness.server.offer(harness.serverBell, hint, LENGTH, new byte[15], peer -> {}));
  }

  @Test
  void whatIsWrittenBecomesVisible() throws IOException {
    Connection connection = harness.connect("a");
    byte[] body = "a frame's body".getBytes(UTF_8);
    MemoryRegion view = connection.client().memory();
    view.putBytes(128, body, 0, body.length);
    view.putLongRelease(128 + 56, 42);
    assertEquals(POSTED, connection.client().write(128, 64));

    MemoryRegion memory = connection.server().memory();
    harness.drive(() -> memory.getLongAcquire(128 + 56) == 42);
    byte[] seen = new byte[body.length];
    memory.getBytes(128, seen, 0, seen.length);
    assertArrayEquals(body, seen);
  }

  @Test
  void readFetchesARange() throws IOException {
    Connection connection = harness.connect("a");
    MemoryRegion memory = connection.server().memory();
    for (int i = 0; i < 64; i += Long.BYTES) {
      memory.putLong(256 + i, 1000 + i);
    }
    QueuePair client = connection.client();
    for (int first = 0; first < 64; first += Long.BYTES) {
      int target = 1024 + 64 * first;
      assertEquals(
          POSTED, client.read(client.remote(), 256, client.memory(), target, 64, first, first));
      long[] completion = harness.completions(client, 1).get(0);
      assertArrayEquals(new long[] {first, SUCCESS, 64}, completion);
      for (int i = 0; i < 64; i += Long.BYTES) {
        assertEquals(1000 + i, client.memory().getLong(target + i));
      }
      assertEquals(0, client.memory().getLong(target + 64));
    }
  }

  @Test
  void atomicsReturnTheFormerWordAndCompleteInOrder() throws IOException {
    Connection connection = harness.connect("a");
    QueuePair client = connection.client();
    RemoteMemory remote = client.remote();
    connection.server().memory().putLongRelease(64, 10);
    assertEquals(POSTED, client.compareAndSwap(remote, 64, 10, 20, 1));
    assertEquals(POSTED, client.compareAndSwap(remote, 64, 10, 30, 2));
    assertEquals(POSTED, client.fetchAndAdd(remote, 64, 5, UNSIGNALED));
    assertEquals(POSTED, client.fetchAndAdd(remote, 64, -1, 3));
    List<long[]> completions = harness.completions(client, 3);
    assertArrayEquals(new long[] {1, SUCCESS, 10}, completions.get(0));
    assertArrayEquals(new long[] {2, SUCCESS, 20}, completions.get(1));
    assertArrayEquals(new long[] {3, SUCCESS, 25}, completions.get(2));
    assertEquals(24, connection.server().memory().getLongAcquire(64));
  }

  @Test
  void fullSendQueueTakesAgainAfterAPoll() throws IOException {
    QueuePair client = harness.connect("a").client();
    int posted = 0;
    int result = POSTED;
    while (posted < 100_000 && result == POSTED) {
      result = client.fetchAndAdd(client.remote(), 0, 1, posted);
      posted += result == POSTED ? 1 : 0;
    }
    assertEquals(SEND_QUEUE_FULL, result);
    List<long[]> completions = harness.completions(client, posted);
    for (int i = 0; i < posted; i++) {
      assertArrayEquals(new long[] {i, SUCCESS, i}, completions.get(i));
    }
    assertEquals(POSTED, client.fetchAndAdd(client.remote(), 0, 1, posted));
    // The refused one was not executed.
    assertEquals(posted, harness.completions(client, 1).get(0)[2]);
  }

  @Test
  void rangesAreChecked() throws IOException {
    QueuePair client = harness.connect("a").client();
    RemoteMemory remote = client.remote();
    MemoryRegion memory = client.memory();
    RemoteMemory foreign = new RemoteMemory(remote.address(), LENGTH, remote.rkey() + 1);
    Class<IllegalArgumentException> misuse = IllegalArgumentException.class;
    assertThrows(misuse, () -> client.write(-1, 64));
    assertThrows(misuse, () -> client.write(LENGTH - 32, 64));
    assertThrows(misuse, () -> client.write(64, Integer.MAX_VALUE));
    assertThrows(misuse, () -> client.read(remote, LENGTH - 8, memory, 0, 16, 0, 1));
    assertThrows(misuse, () -> client.read(remote, 0, memory, LENGTH - 8, 16, 0, 1));
    assertThrows(misuse, () -> client.read(remote, 0, memory, 64, 16, 16, 1));
    assertThrows(misuse, () -> client.read(remote, 4, memory, 64, 16, 0, 1));
    assertThrows(misuse, () -> client.compareAndSwap(remote, LENGTH, 0, 1, 1));
    assertThrows(misuse, () -> client.fetchAndAdd(remote, -8, 1, 1));
    assertThrows(misuse, () -> client.fetchAndAdd(foreign, 0, 1, 1));
    assertEquals(0, client.completions().poll((id, status, value) -> {}, 1));
  }

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
                  client.memory().putLongRelease(line, round);
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
  void clientThatClosesEndsTheServer() throws IOException {
    Connection connection = harness.connect("a");
    connection.client().close();
    assertEnded(connection.client(), connection.server(), connection.toldServer());
    assertTrue(connection.toldClient().ends.isEmpty(), "told of its own close");
  }

  @Test
  void serverThatClosesEndsTheClient() throws IOException {
    Connection connection = harness.connect("a");
    connection.server().close();
    assertEnded(connection.server(), connection.client(), connection.toldClient());
    assertTrue(connection.toldServer().ends.isEmpty(), "told of its own close");
  }

  /** The closer is told nothing, the other side once; neither can do anything any more. */
  private void assertEnded(QueuePair closer, QueuePair other, Told told) throws IOException {
    assertClosed(closer);
    harness.drive(() -> !told.ends.isEmpty());
    assertClosed(other);
    closer.ringDoorbell();
    other.ringDoorbell();
    closer.close();
    other.close();
    other.close();
    harness.settle();
    assertEquals(1, told.ends.size());
    assertFalse(told.ends.get(0).contains("\n"));
  }

  @Test
  void anEndThatWasToldKeepsNobodyAwake() throws IOException {
    Connection connection = harness.connect("a");
    connection.server().close();
    harness.drive(() -> !connection.toldClient().ends.isEmpty());
    harness.settle();
    long startNs = System.nanoTime();
    int wakes = 0;
    while (System.nanoTime() - startNs < SHORT_NS) {
      harness.clientBell.await(SHORT_NS);
      wakes++;
    }
    assertTrue(wakes < 20, "wakes=" + wakes);
  }

  private static void assertClosed(QueuePair queuePair) {
    RemoteMemory remote = queuePair.remote();
    assertEquals(CLOSED, queuePair.write(0, 64));
    assertEquals(CLOSED, queuePair.read(remote, 0, queuePair.memory(), 64, 64, 0, 1));
    assertEquals(CLOSED, queuePair.compareAndSwap(remote, 0, 0, 1, 1));
    assertEquals(CLOSED, queuePair.fetchAndAdd(remote, 0, 1, 1));
  }

  @Test
  void theEndOfOneLeavesOthersAlone() throws IOException {
    Connection first = harness.connect("a");
    Connection second = harness.connect("b");
    first.client().close();
    harness.drive(() -> !first.toldServer().ends.isEmpty());
    first.server().close();
    second.client().ringDoorbell();
    harness.drive(() -> second.toldServer().rings == 1);
    assertEquals(POSTED, second.client().write(0, 64));
    assertTrue(second.toldServer().ends.isEmpty());
  }

  @Test
  void pendingWorkCompletesOnceWhenTheQueuePairEnds() throws IOException {
    Connection connection = harness.connect("a");
    QueuePair client = connection.client();
    for (int id = 0; id < 3; id++) {
      assertEquals(POSTED, client.fetchAndAdd(client.remote(), 0, 1, id));
    }
    connection.server().close();
    harness.drive(() -> !connection.toldClient().ends.isEmpty());
    List<long[]> completions = harness.completions(client, 3);
    for (int id = 0; id < 3; id++) {
      assertEquals(id, completions.get(id)[0]);
      assertTrue(completions.get(id)[1] == SUCCESS || completions.get(id)[1] == FLUSHED);
    }
    assertEquals(0, client.completions().poll((id, status, value) -> {}, 10));
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

  @Test
  void listenerMayClose() throws IOException {
    Offered offered = harness.offer(token("a"));
    QueuePair client = harness.connect(offered.offer.descriptor(), token("a"));
    harness.drive(() -> offered.arrived.size() == 1);
    QueuePair server = offered.arrived.get(0);
    server.bind(
        new QueuePair.Listener() {
          @Override
          public void onDoorbell() {
            server.close();
          }

          @Override
          public void onDisconnected(String reason) {
            throw new AssertionError("told after its own close");
          }
        });
    Told told = new Told();
    client.bind(told);
    client.ringDoorbell();
    harness.drive(() -> told.ends.size() == 1);
    client.close();
    harness.settle();
  }

  @Test
  void listenerThatThrowsEndsItsOwnQueuePairOnly() throws IOException {
    Connection other = harness.connect("other");
    Offered offered = harness.offer(token("a"));
    QueuePair client = harness.connect(offered.offer.descriptor(), token("a"));
    harness.drive(() -> offered.arrived.size() == 1);
    IllegalStateException thrown = new IllegalStateException("thrown by a test");
    List<String> ends = new ArrayList<>();
    QueuePair server = offered.arrived.get(0);
    server.bind(
        new QueuePair.Listener() {
          @Override
          public void onDoorbell() {
            throw thrown;
          }

          @Override
          public void onDisconnected(String reason) {
            ends.add(reason);
          }
        });
    Told told = new Told();
    client.bind(told);
    List<Throwable> handled =
        collectUncaught(
            () -> {
              client.ringDoorbell();
              harness.drive(() -> ends.size() == 1);
            });
    assertEquals(List.of(thrown), handled);
    assertClosed(server);
    server.close();
    harness.drive(() -> told.ends.size() == 1);
    other.client().ringDoorbell();
    harness.drive(() -> other.toldServer().rings == 1);
    assertEquals(1, ends.size());
  }

  @Test
  void offerListenerThatThrowsLosesItsPeerOnly() throws IOException {
    Connection other = harness.connect("other");
    IllegalStateException thrown = new IllegalStateException("thrown by a test");
    Fabric.Offer offer =
        harness.server.offer(
            harness.serverBell,
            harness.client.hint(),
            LENGTH,
            token("a"),
            queuePair -> {
              throw thrown;
            });
    Told told = new Told();
    List<Throwable> handled =
        collectUncaught(
            () -> {
              harness.connect(offer.descriptor(), token("a")).bind(told);
              harness.drive(() -> told.ends.size() == 1);
            });
    assertEquals(List.of(thrown), handled);
    other.client().ringDoorbell();
    harness.drive(() -> other.toldServer().rings == 1);
  }

  /** What reaches the test thread's handler while the action runs in it. */
  private static List<Throwable> collectUncaught(IoAction action) throws IOException {
    List<Throwable> handled = new ArrayList<>();
    Thread thread = Thread.currentThread();
    Thread.UncaughtExceptionHandler handler = thread.getUncaughtExceptionHandler();
    thread.setUncaughtExceptionHandler((t, e) -> handled.add(e));
    try {
      action.run();
    } finally {
      thread.setUncaughtExceptionHandler(handler);
    }
    return handled;
  }

  @FunctionalInterface
  private interface IoAction {
    void run() throws IOException;
  }
}
