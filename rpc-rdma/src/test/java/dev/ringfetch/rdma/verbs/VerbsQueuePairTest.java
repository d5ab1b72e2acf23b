package dev.ringfetch.rdma.verbs;

import static dev.ringfetch.fabric.FabricHarness.LENGTH;
import static dev.ringfetch.fabric.FabricHarness.token;
import static dev.ringfetch.fabric.QueuePair.CLOSED;
import static dev.ringfetch.fabric.QueuePair.POSTED;
import static dev.ringfetch.fabric.QueuePair.SUCCESS;
import static dev.ringfetch.fabric.QueuePair.UNSIGNALED;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.ibm.disni.verbs.IbvCompChannel;
import dev.ringfetch.fabric.FabricHarness;
import dev.ringfetch.fabric.FabricHarness.Connection;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RemoteMemory;
import dev.ringfetch.rdma.natives.CompletionLayout;
import dev.ringfetch.rdma.natives.CompletionQueues;
import dev.ringfetch.rdma.natives.QueuePairs;
import dev.ringfetch.rdma.natives.RdmaAssumptions;
import dev.ringfetch.rdma.natives.Regions;
import dev.ringfetch.rdma.natives.Request;
import dev.ringfetch.rdma.natives.SendLayout;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What is the device's own: exact work requests, and what breaks a connection. */
@Tag("verbs")
final class VerbsQueuePairTest {
  private FabricHarness harness;

  @BeforeEach
  void open() throws IOException {
    RdmaAssumptions.assumeDevice();
    harness = new FabricHarness(VerbsFabricTest.openVerbs(), VerbsFabricTest.openVerbs());
  }

  @AfterEach
  void close() {
    if (harness != null) {
      harness.close();
    }
  }

  private static WorkRequestCounts counts(QueuePair queuePair) {
    WorkRequestCounts counts = ((VerbsQueuePair) queuePair).counts();
    // Probes, and what these ask for, come with time.
    return new WorkRequestCounts(
        counts.writes(),
        counts.reads(),
        counts.atomics(),
        counts.sends(),
        counts.credits(),
        0,
        counts.datagrams(),
        counts.signaled() - counts.probes());
  }

  @Test
  void everyCallIsOneRequest() throws IOException {
    Connection connection = harness.connect("a");
    QueuePair client = connection.client();
    WorkRequestCounts servers = WorkRequestCounts.ofServers();
    WorkRequestCounts clients = WorkRequestCounts.ofClients();
    MemoryRegion scratch = client.scratch(64);
    assertEquals(POSTED, client.write(0, 64));
    assertEquals(POSTED, client.write(0, LENGTH));
    assertEquals(POSTED, client.write(64, 0)); // nothing to be done
    assertEquals(POSTED, client.read(client.remote(), 0, scratch, 0, 64, 0, 5));
    assertEquals(POSTED, client.fetchAndAdd(client.remote(), 0, 1, 6));
    assertEquals(POSTED, client.compareAndSwap(client.remote(), 0, 1, 2, UNSIGNALED));
    client.ringDoorbell();
    harness.completions(client, 2);
    harness.drive(() -> connection.toldServer().rings == 1);
    assertEquals(new WorkRequestCounts(2, 1, 2, 1, 0, 0, 0, 2), counts(client));
    WorkRequestCounts greeting = new WorkRequestCounts(0, 0, 0, 1, 0, 0, 0, 0);
    assertEquals(greeting, counts(connection.server()));
    WorkRequestCounts ofClients = WorkRequestCounts.ofClients().minus(clients);
    assertEquals(2, ofClients.writes());
    assertEquals(1, ofClients.reads());
    assertEquals(0, WorkRequestCounts.ofServers().minus(servers).writes());
    connection.server().close();
    connection.client().close();
    harness.settle();
    assertEquals(ofClients.writes(), WorkRequestCounts.ofClients().minus(clients).writes());
  }

  @Test
  void corkedRequestsAreHandedOverTogether() throws IOException {
    VerbsQueuePair client = (VerbsQueuePair) harness.connect("a").client();
    MemoryRegion scratch = client.scratch(64);
    long before = doorbells(client);
    client.cork();
    assertEquals(POSTED, client.write(0, 64));
    assertEquals(POSTED, client.write(64, 64));
    assertEquals(POSTED, client.read(client.remote(), 0, scratch, 0, 64, 0, 5));
    assertEquals(before, doorbells(client));
    client.uncork();
    assertEquals(before + 1, doorbells(client));
    client.uncork();
    assertEquals(before + 1, doorbells(client));
    harness.completions(client, 1);
    assertEquals(new WorkRequestCounts(2, 1, 0, 0, 0, 0, 0, 1), counts(client));
    client.cork();
    for (int i = 0; i <= SendQueue.CHAIN; i++) {
      assertEquals(POSTED, client.write(0, 64));
    }
    assertEquals(before + 2, doorbells(client)); // the chain was full
    client.uncork();
    assertEquals(before + 3, doorbells(client));
  }

  /** But for those of probes, each of which is handed over by itself, or with what waits. */
  private static long doorbells(VerbsQueuePair queuePair) {
    return queuePair.doorbells() - queuePair.counts().probes();
  }

  @Test
  void oneWriteOf64AsksForACompletion() throws IOException {
    QueuePair client = harness.connect("a").client();
    for (int i = 0; i < 640; i++) {
      while (client.write(0, 64) != POSTED) {
        Thread.onSpinWait();
      }
    }
    WorkRequestCounts counts = counts(client);
    assertEquals(640, counts.writes());
    // Each probe begins a new count.
    assertTrue(counts.signaled() <= 10, counts::toString);
    assertTrue(counts.signaled() >= 1, counts::toString);
    assertEquals(0, client.completions().poll((id, status, value) -> {}, 1));
  }

  @Test
  void oneDatagramOf16AsksForACompletion() throws IOException {
    Connection connection = harness.connect("a", true);
    WorkRequestCounts servers = WorkRequestCounts.ofServers();
    QueuePair server = connection.server();
    for (int i = 0; i < 160; i++) {
      while (server.sendDatagram(0, 64) != POSTED) {
        Thread.onSpinWait();
      }
    }
    assertEquals(new WorkRequestCounts(0, 0, 0, 1, 0, 0, 160, 10), counts(server));
    assertEquals(160, WorkRequestCounts.ofServers().minus(servers).datagrams());
    assertEquals(0, counts(connection.client()).datagrams());
  }

  /** What was not received in time is lost, and the receives are posted again after it. */
  @Test
  void receivesOfDatagramsArePostedAnew() throws IOException {
    Connection connection = harness.connect("a", true);
    int[] came = new int[1];
    for (int round = 0; round < 50; round++) {
      for (int i = 0; i < DatagramReceiver.DEPTH / 2; i++) {
        while (connection.server().sendDatagram(i * 64, 64) != POSTED) {
          Thread.onSpinWait();
        }
      }
      int before = came[0];
      harness.drive(
          () -> {
            connection.client().pollDatagrams((region, offset, length) -> came[0]++, 100);
            return came[0] > before + DatagramReceiver.DEPTH / 4;
          });
    }
  }

  /** A sender that knows the queue key, but is not the peer's queue pair, is ignored. */
  @Test
  void datagramOfAnotherQueuePairIsDropped() throws Exception {
    Connection connection = harness.connect("a", true);
    Endpoint server = ((VerbsQueuePair) connection.server()).endpoint();
    VerbsQueuePair client = (VerbsQueuePair) connection.client();
    IbvCompChannel channel = server.id().getVerbs().createCompChannel();
    DatagramPair stranger =
        DatagramPair.open(
            server.domain(),
            server.id(),
            server.queuePair(),
            channel,
            server.datagrams().queueKey(),
            DatagramSender.DEPTH,
            1);
    try {
      stranger.pointAtPeer(server.queuePair());
      Request request =
          new Request(SendLayout.SEND)
              .datagram(
                  stranger.handle(), client.endpoint().datagrams().number(), stranger.queueKey())
              .id(1)
              .flags(SendLayout.SIGNALED)
              .local(server.memory().address(), 64, server.memory().localKey());
      int[] came = new int[1];
      send(stranger, request);
      while (connection.server().sendDatagram(0, 64) != POSTED) {
        Thread.onSpinWait();
      }
      harness.drive(() -> hears(client, came)); // the one that came behind it
      assertEquals(1, came[0]);
      // The same datagram from the same queue pair is heard where that is the peer's.
      Field receiver = VerbsQueuePair.class.getDeclaredField("receiver");
      receiver.setAccessible(true);
      ((DatagramReceiver) receiver.get(client)).listenTo(stranger.number());
      send(stranger, request);
      harness.drive(() -> hears(client, came));
      assertEquals(2, came[0]);
    } finally {
      stranger.release();
      channel.destroyCompChannel();
    }
  }

  private void send(DatagramPair sender, Request request) throws IOException {
    ByteBuffer taken = Request.direct(CompletionLayout.SIZE);
    assertEquals(0, QueuePairs.postSend(sender.queuePair(), request.address()));
    harness.drive(
        () -> CompletionQueues.poll(sender.completions(), 1, Regions.address(taken)) == 1);
    assertEquals(CompletionLayout.SUCCESS, taken.getInt(CompletionLayout.STATUS));
  }

  private static boolean hears(QueuePair client, int[] came) {
    return client.pollDatagrams((region, offset, length) -> came[0]++, 100) > 0;
  }

  @Test
  void inlineWritesLeaveTheViewReusable() throws IOException {
    Connection connection = harness.connect("a");
    QueuePair client = connection.client();
    int inline = client.capabilities().maxInline();
    assertTrue(inline >= 64, "inline=" + inline);
    for (int i = 1; i <= 1000; i++) {
      client.memory().putLongRelease(0, i);
      while (client.write(0, 64) != POSTED) {
        Thread.onSpinWait();
      }
      client.memory().putLongRelease(0, -1); // what was posted has its own copy
    }
    MemoryRegion memory = connection.server().memory();
    harness.drive(() -> memory.getLongAcquire(0) == 1000);
  }

  @Test
  void writesGoBothWaysAndAreSeparate() throws IOException {
    Connection connection = harness.connect("a");
    connection.client().memory().putLongRelease(0, 1);
    connection.server().memory().putLongRelease(64, 2);
    assertEquals(POSTED, connection.client().write(0, 64));
    assertEquals(POSTED, connection.server().write(64, 64));
    harness.drive(
        () ->
            connection.server().memory().getLongAcquire(0) == 1
                && connection.client().memory().getLongAcquire(64) == 2);
    assertEquals(2, connection.server().memory().getLongAcquire(64));
    assertEquals(1, connection.client().memory().getLongAcquire(0));
  }

  /** The device refuses what a faulty client asks for, and nobody but the two is disturbed. */
  @Test
  void accessOutsideOfTheMemoryEndsThatConnectionOnly() throws IOException {
    Connection other = harness.connect("other");
    for (boolean writing : new boolean[] {true, false}) {
      Connection connection = harness.connect("a" + writing);
      RemoteMemory remote = connection.client().remote();
      int opcode = writing ? SendLayout.WRITE : SendLayout.READ;
      post(connection.client(), opcode, remote.address() + LENGTH - 32, remote.rkey());
      assertBroken(connection);
    }
    Connection stranger = harness.connect("stranger");
    RemoteMemory others = other.client().remote();
    // A key of another session's, rightly spelled: of another protection domain.
    post(stranger.client(), SendLayout.WRITE, others.address(), others.rkey());
    assertBroken(stranger);
    assertArrayEquals(new byte[64], bytes(other.server().memory()));
    other.client().memory().putLongRelease(0, 9);
    assertEquals(POSTED, other.client().write(0, 64));
    other.client().ringDoorbell();
    harness.drive(() -> other.toldServer().rings == 1);
    assertEquals(9, other.server().memory().getLongAcquire(0));
    assertTrue(other.toldServer().ends.isEmpty());
  }

  /** Posts what no queue pair of ours would. */
  private static void post(QueuePair queuePair, int opcode, long address, int key) {
    Endpoint endpoint = ((VerbsQueuePair) queuePair).endpoint();
    Request request = new Request(opcode);
    request
        .flags(SendLayout.SIGNALED)
        .local(endpoint.memory().address(), 64, endpoint.memory().localKey())
        .remote(address, key);
    assertEquals(0, QueuePairs.postSend(endpoint.queuePair(), request.address()));
  }

  private void assertBroken(Connection connection) throws IOException {
    harness.drive(
        () -> !connection.toldClient().ends.isEmpty() && !connection.toldServer().ends.isEmpty());
    String words = connection.toldClient().ends.get(0);
    assertTrue(words.contains("verbs /") && words.contains("remote access error"), words);
    assertEquals(CLOSED, connection.client().write(0, 64));
    assertEquals(CLOSED, connection.server().write(0, 64));
    connection.client().close();
    connection.server().close();
    harness.settle();
    assertEquals(1, connection.toldClient().ends.size());
    assertEquals(1, connection.toldServer().ends.size());
  }

  private static byte[] bytes(MemoryRegion memory) {
    byte[] bytes = new byte[64];
    memory.getBytes(0, bytes, 0, bytes.length);
    return bytes;
  }

  @Test
  void queuePairInErrorIsToldToBothAndFlushed() throws IOException {
    Connection connection = harness.connect("a");
    QueuePair client = connection.client();
    MemoryRegion scratch = client.scratch(64);
    assertEquals(POSTED, client.read(client.remote(), 0, scratch, 0, 64, 0, 1));
    QueuePairs.fail(((VerbsQueuePair) client).endpoint().queuePair());
    harness.drive(
        () -> !connection.toldClient().ends.isEmpty() && !connection.toldServer().ends.isEmpty());
    List<long[]> completions = harness.completions(client, 1);
    assertEquals(1, completions.get(0)[0]);
    assertFalse(connection.toldClient().ends.get(0).contains("\n"));
  }

  /** What was posted before a close is executed still. */
  @Test
  void closeLetsTheLastRequestsGo() throws IOException {
    for (int round = 1; round <= 20; round++) {
      Connection connection = harness.connect("a" + round);
      QueuePair client = connection.client();
      for (int line = 0; line < 100; line++) {
        client.memory().putLongRelease(line * 64, round);
        assertEquals(POSTED, client.write(line * 64, 64));
      }
      client.ringDoorbell();
      client.close();
      harness.drive(() -> !connection.toldServer().ends.isEmpty());
      assertEquals(1, connection.toldServer().rings);
      assertEquals(round, connection.server().memory().getLongAcquire(99 * 64));
      connection.server().close();
    }
  }

  /** What waited before a close is executed as well. */
  @Test
  void closeUncorks() throws IOException {
    Connection connection = harness.connect("a");
    QueuePair client = connection.client();
    client.cork();
    client.memory().putLongRelease(0, 9);
    assertEquals(POSTED, client.write(0, 64));
    client.close();
    harness.drive(() -> !connection.toldServer().ends.isEmpty());
    assertEquals(9, connection.server().memory().getLongAcquire(0));
    connection.server().close();
  }

  @Test
  void clientsCopyIsNotRead() throws IOException {
    Connection connection = harness.connect("a");
    QueuePair server = connection.server();
    MemoryRegion scratch = server.scratch(64);
    // The client's copy is there to be WRITten: it lets nobody READ.
    assertEquals(POSTED, server.read(server.remote(), 0, scratch, 0, 64, 0, 1));
    harness.drive(() -> !connection.toldServer().ends.isEmpty());
    long[] completion = harness.completions(server, 1).get(0);
    assertTrue(completion[1] != SUCCESS);
  }

  @Test
  void memoryOfAnotherConnectionIsNotReadInto() throws IOException {
    QueuePair first = harness.connect("a").client();
    MemoryRegion scratch = harness.connect("b").client().scratch(64);
    assertThrows(
        IllegalArgumentException.class, () -> first.read(first.remote(), 0, scratch, 0, 64, 0, 1));
  }

  @Test
  void probesKeepAnIdleConnection() throws IOException {
    Connection connection = harness.connect("a");
    harness.drive(
        () ->
            ((VerbsQueuePair) connection.client()).counts().probes() > 2
                && ((VerbsQueuePair) connection.server()).counts().probes() > 2);
    assertTrue(connection.toldClient().ends.isEmpty());
    assertTrue(connection.toldServer().ends.isEmpty());
  }

  @Test
  void tokensOfOtherLengthsAreMisuse() {
    assertThrows(IllegalArgumentException.class, () -> Introduction.Token.of(new byte[15]));
    assertTrue(Introduction.Token.of(token("a")).matches(Introduction.Token.of(token("a"))));
    assertFalse(Introduction.Token.of(token("a")).matches(Introduction.Token.of(token("b"))));
  }
}
