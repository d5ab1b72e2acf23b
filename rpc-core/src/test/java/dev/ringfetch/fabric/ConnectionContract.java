package dev.ringfetch.fabric;

import static dev.ringfetch.fabric.FabricHarness.LENGTH;
import static dev.ringfetch.fabric.FabricHarness.token;
import static dev.ringfetch.fabric.QueuePair.CLOSED;
import static dev.ringfetch.fabric.QueuePair.FLUSHED;
import static dev.ringfetch.fabric.QueuePair.POSTED;
import static dev.ringfetch.fabric.QueuePair.SUCCESS;
import static java.nio.charset.StandardCharsets.UTF_8;
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
import org.junit.jupiter.api.Test;

/** How two processes meet and part, and what the end of one of them leaves of the other. */
public abstract class ConnectionContract extends FabricContract {
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
