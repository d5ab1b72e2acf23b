package dev.ringfetch.rdma.verbs;

import static dev.ringfetch.fabric.FabricHarness.token;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.FabricHarness;
import dev.ringfetch.fabric.FabricHarness.Connection;
import dev.ringfetch.fabric.FabricHarness.Offered;
import dev.ringfetch.fabric.FabricHarness.Told;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RemoteMemory;
import dev.ringfetch.rdma.natives.AddressLayout;
import dev.ringfetch.rdma.natives.ConnectionManager;
import dev.ringfetch.rdma.natives.Disni;
import dev.ringfetch.rdma.natives.EventLayout;
import dev.ringfetch.rdma.natives.PortLayout;
import dev.ringfetch.rdma.natives.QueuePairs;
import dev.ringfetch.rdma.natives.RcLoop;
import dev.ringfetch.rdma.natives.RdmaAssumptions;
import dev.ringfetch.rdma.natives.Regions;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests of connecting: which peers are accepted, what the others get as a reason, and what is left.
 */
@Tag("verbs")
final class VerbsConnectTest {
  /** Connections that may leave nothing behind; more of them take their time. */
  private static final int ROUNDS = Integer.getInteger("ringfetch.connects", 200);

  /** Event of a client without a queue pair, whose request was accepted (rdma_cma.h). */
  private static final int ANSWERED = 5;

  private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(30);

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

  @Test
  void refusalHasTheServersWords() throws IOException {
    Offered offered = harness.offer(token("right"));
    byte[] descriptor = offered.offer.descriptor();
    String wrong = refusal(descriptor, "wrong");
    assertTrue(wrong.contains("no such offer, or the token is wrong"), wrong);
    byte[] unknown = descriptor.clone();
    unknown[1] ^= 1; // of the offer's id
    String none = refusal(unknown, "right");
    assertTrue(none.contains("no such offer, or the token is wrong"), none);
    harness.connect(descriptor, token("right")).close();
    String taken = refusal(descriptor, "right");
    assertTrue(taken.contains("no such offer, or the token is wrong"), taken);
    assertEquals(1, offered.arrived.size());
  }

  @Test
  void copyOfAnotherLengthIsRefused() throws IOException {
    OfferDescriptor right = OfferDescriptor.decode(harness.offer(token("a")).offer.descriptor());
    byte[] longer =
        new OfferDescriptor(right.offer(), right.length() + 64, right.port(), right.addresses())
            .encode();
    String words = refusal(longer, "a");
    assertTrue(words.contains("another length"), words);
  }

  private String refusal(byte[] descriptor, String token) {
    return assertThrows(IOException.class, () -> harness.connect(descriptor, token(token)))
        .getMessage();
  }

  @Test
  void portAtWhichNobodyListensIsToldAtOnce() throws IOException {
    OfferDescriptor right = OfferDescriptor.decode(harness.offer(token("a")).offer.descriptor());
    byte[] nobodys =
        new OfferDescriptor(right.offer(), right.length(), 1, right.addresses()).encode();
    String words = refusal(nobodys, "a");
    assertTrue(words.contains("nobody listens there"), words);
  }

  @Test
  void addressThatDoesNotAnswerTakesNoMoreThanTheTimeout() throws IOException {
    OfferDescriptor right = OfferDescriptor.decode(harness.offer(token("a")).offer.descriptor());
    // Of this network, but nobody's; and of a network that has no route at all.
    for (String address : List.of("10.0.2.77", "192.0.2.1")) {
      byte[] silent =
          new OfferDescriptor(
                  right.offer(), right.length(), 1, List.of(InetAddress.getByName(address)))
              .encode();
      Future<QueuePair> connecting =
          harness.connectUndriven(silent, token("a"), TimeUnit.MILLISECONDS.toNanos(300));
      String words =
          assertThrows(IOException.class, () -> FabricHarness.result(connecting)).getMessage();
      assertTrue(words.contains(address), words);
    }
  }

  @Test
  void nextAddressIsTriedWhereOneDoesNotAnswer() throws IOException {
    Offered offered = harness.offer(token("a"));
    OfferDescriptor right = OfferDescriptor.decode(offered.offer.descriptor());
    assertTrue(right.addresses().size() > 1, right::toString);
    for (InetAddress address : right.addresses()) {
      List<InetAddress> both = List.of(InetAddress.getByName("192.0.2.1"), address);
      Offered other = harness.offer(token("a"));
      OfferDescriptor others = OfferDescriptor.decode(other.offer.descriptor());
      byte[] descriptor =
          new OfferDescriptor(others.offer(), others.length(), others.port(), both).encode();
      QueuePair queuePair = harness.connect(descriptor, token("a"));
      assertTrue(queuePair.peer().contains(address.getHostAddress()), queuePair::peer);
    }
  }

  /** One that presents the token, and never says that it has heard the answer. */
  @Test
  void withdrawnOfferGivesBackWhatAPeerThatNeverConnectsHas() throws Exception {
    Offered first = harness.offer(token("first")); // from here on the server listens
    OfferDescriptor listening = OfferDescriptor.decode(first.offer.descriptor());
    first.offer.close();
    RcLoop.End peer = new RcLoop.End();
    peer.id = Disni.createId(peer.channel);
    try {
      resolve(peer, new InetSocketAddress(listening.addresses().get(0), listening.port()));
      String before = objects();
      Offered offered = harness.offer(token("a"));
      present(peer, OfferDescriptor.decode(offered.offer.descriptor()), token("a"));
      harness.drive(() -> nextEvent(peer) > 0);
      assertEquals(ANSWERED, peer.event.getInt(EventLayout.TYPE));
      offered.offer.close();
      awaitObjects(before); // the peer is there still
      assertTrue(offered.arrived.isEmpty());
    } finally {
      assertEquals(0, peer.id.destroyId());
      assertEquals(0, peer.channel.destroyEventChannel());
    }
  }

  private static void resolve(RcLoop.End peer, InetSocketAddress listening) throws IOException {
    ByteBuffer address = RcLoop.direct(AddressLayout.SIZE);
    AddressLayout.encode(listening, address);
    int timeoutMs = (int) TimeUnit.NANOSECONDS.toMillis(TIMEOUT_NS);
    ConnectionManager.resolveAddress(Disni.handle(peer.id), 0, Regions.address(address), timeoutMs);
    assertEquals(0, peer.await(EventLayout.ADDRESS_RESOLVED));
    peer.id.resolveRoute(timeoutMs);
    assertEquals(0, peer.await(EventLayout.ROUTE_RESOLVED));
  }

  /** Asks for the connection without a queue pair, so that nothing answers by itself. */
  private static void present(RcLoop.End peer, OfferDescriptor descriptor, byte[] token)
      throws IOException {
    RemoteMemory memory = new RemoteMemory(0, descriptor.length(), 0);
    Introduction.Side side = new Introduction.Side(memory, new RemoteMemory(0, Long.BYTES, 0), 0);
    ByteBuffer data =
        new Introduction(descriptor.offer(), Introduction.Token.of(token), side).encode();
    ConnectionManager.connect(
        Disni.handle(peer.id),
        ConnectionManager.ALL,
        7,
        7,
        Regions.address(data),
        Introduction.LENGTH);
  }

  private static int nextEvent(RcLoop.End peer) {
    return ConnectionManager.nextEvent(Disni.handle(peer.channel), Regions.address(peer.event), 0);
  }

  @Test
  void interruptEndsAConnect() throws Exception {
    byte[] descriptor = harness.offer(token("a")).offer.descriptor();
    IOException[] thrown = {null};
    Thread connecting =
        new Thread(
            () -> {
              try {
                harness.client.connect(harness.clientBell, descriptor, token("a"), TIMEOUT_NS);
              } catch (IOException e) {
                thrown[0] = e;
              }
            });
    connecting.start();
    connecting.interrupt();
    connecting.join();
    assertTrue(thrown[0] instanceof InterruptedIOException, () -> "" + thrown[0]);
  }

  @Test
  void ofTwoThatPresentOneTokenAtOnceOneIsLetIn() throws IOException {
    for (int round = 0; round < 10; round++) {
      byte[] token = token("token " + round);
      Offered offered = harness.offer(token);
      byte[] descriptor = offered.offer.descriptor();
      Future<QueuePair> first = harness.connectUndriven(descriptor, token, TIMEOUT_NS);
      Future<QueuePair> second = harness.connectUndriven(descriptor, token, TIMEOUT_NS);
      harness.drive(() -> first.isDone() && second.isDone());
      assertEquals(1, succeeded(first) + succeeded(second), "clients that were let in");
      harness.drive(() -> offered.arrived.size() == 1);
      offered.arrived.get(0).close();
    }
  }

  private static int succeeded(Future<QueuePair> connecting) {
    try {
      FabricHarness.result(connecting).close();
      return 1;
    } catch (IOException e) {
      return 0;
    }
  }

  @Test
  void hintsOfOthersAreRefusedWithWords() {
    byte[] infiniband = harness.client.hint();
    for (int at = 2; at < infiniband.length; at += 2 + infiniband[at + 1]) {
      infiniband[at] = PortLayout.INFINIBAND;
    }
    byte[] cut = Arrays.copyOf(infiniband, infiniband.length - 1);
    for (byte[] hint : List.of(new byte[0], new byte[] {9}, new byte[] {1, 0}, infiniband, cut)) {
      IOException refusal =
          assertThrows(
              IOException.class,
              () -> harness.server.offer(harness.serverBell, hint, 64, token("a"), peer -> {}));
      assertTrue(refusal.getMessage().contains("peer"), refusal::getMessage);
    }
  }

  /** The kernel says so for it, at once. */
  @Test
  void deathOfTheServerIsTold() throws Exception {
    try (VerbsChild child = VerbsChild.start("serve")) {
      byte[] descriptor = HexFormat.of().parseHex(child.readLine());
      QueuePair queuePair = harness.connect(descriptor, VerbsChild.TOKEN);
      Told told = new Told();
      queuePair.bind(told);
      child.kill();
      long startNs = System.nanoTime();
      harness.drive(() -> !told.ends.isEmpty());
      System.out.printf("told after %d ms%n", (System.nanoTime() - startNs) / 1_000_000);
      assertEquals(QueuePair.CLOSED, queuePair.write(0, 64));
    }
  }

  @Test
  void deathOfTheClientIsTold() throws Exception {
    Offered offered = harness.offer(VerbsChild.TOKEN);
    String descriptor = HexFormat.of().formatHex(offered.offer.descriptor());
    try (VerbsChild child = VerbsChild.start("connect", descriptor)) {
      harness.drive(() -> offered.arrived.size() == 1);
      Told told = new Told();
      offered.arrived.get(0).bind(told);
      child.readLine();
      child.kill();
      harness.drive(() -> !told.ends.isEmpty());
      assertEquals(1, told.ends.size());
    }
  }

  /** Without the capability that lifts the limit, which root has. */
  @ParameterizedTest
  @ValueSource(strings = {"register", "registerBeside"})
  void memoryBeyondTheLimitIsRefusedWithWords(String task) throws IOException {
    try (VerbsChild child =
        VerbsChild.startBy(
            "ulimit -l 1024 && exec setpriv --bounding-set=-ipc_lock \"$@\"",
            task,
            Integer.toString(16 * 1024 * 1024))) {
      String words = child.readLine();
      assertTrue(words.contains("RLIMIT_MEMLOCK"), words);
      assertEquals("small", child.readLine());
    }
  }

  @Test
  @Timeout(600)
  void nothingIsLeftOfManyConnections() throws Exception {
    harness.offer(token("a")).offer.close(); // from here on the server listens
    String before = objects();
    connectAndClose(0); // has what a device needs once
    awaitObjects(before);
    List<String> descriptors = descriptors();
    for (int round = 1; round <= ROUNDS; round++) {
      connectAndClose(round);
    }
    awaitObjects(before);
    awaitDescriptors(descriptors);
    System.out.printf("after %d connections: %s%n", ROUNDS, before);
  }

  private void awaitObjects(String expected) throws Exception {
    long startNs = System.nanoTime();
    while (!objects().equals(expected) && System.nanoTime() - startNs < TIMEOUT_NS) {
      harness.settle();
    }
    assertEquals(expected, objects());
  }

  /** No more than before; fewer where something of an earlier test was closed meanwhile. */
  private void awaitDescriptors(List<String> before) throws Exception {
    long startNs = System.nanoTime();
    List<String> after = descriptors();
    while (after.size() > before.size() && System.nanoTime() - startNs < TIMEOUT_NS) {
      harness.settle();
      after = descriptors();
    }
    assertTrue(after.size() <= before.size(), "before=" + before + " after=" + after);
  }

  /** Each way in which a connection comes to its end, in turn; with datagrams, and without. */
  private void connectAndClose(int round) throws IOException {
    boolean datagrams = round % 8 >= 4;
    Connection connection = harness.connect("round " + round, datagrams);
    connection.client().scratch(64);
    if (datagrams) {
      assertEquals(QueuePair.POSTED, connection.server().sendDatagram(0, 64));
    }
    switch (round % 4) {
      case 0 -> connection.client().close();
      case 1 -> connection.server().close();
      case 2 -> QueuePairs.fail(((VerbsQueuePair) connection.client()).endpoint().queuePair());
      default -> {
        Offered unwanted = harness.offer(token("never"));
        assertThrows(
            IOException.class, () -> harness.connect(unwanted.offer.descriptor(), token("wrong")));
        unwanted.offer.close();
      }
    }
    connection.client().close();
    connection.server().close();
  }

  /** Objects of all devices, as the kernel counts them. */
  private static String objects() throws Exception {
    Process process = new ProcessBuilder("rdma", "res", "show").redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), said);
    return said;
  }

  /**
   * What the descriptors of a fabric's kinds lead to: devices, event queues, sockets. Pipes to
   * other programs and files come and go by themselves.
   */
  private static List<String> descriptors() throws IOException {
    List<String> targets = new ArrayList<>();
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      for (Path descriptor : open.toList()) {
        try {
          targets.add(Files.readSymbolicLink(descriptor).toString());
        } catch (NoSuchFileException e) {
          // Closed since it was listed, as the one that lists is.
        }
      }
    }
    targets.removeIf(
        target ->
            !target.startsWith("/dev/infiniband")
                && !target.startsWith("anon_inode:")
                && !target.startsWith("socket:"));
    return targets;
  }

  @Test
  void whatAnybodyMayHaveSentIsPrintable() throws IOException {
    String reason = "no room\n\u0007 left";
    ByteBuffer sent = Introduction.encodeReason(reason);
    assertEquals("no room left", Introduction.decodeReason(sent.rewind()));
    assertEquals("no reason given", Introduction.decodeReason(ByteBuffer.allocate(148)));
    assertThrows(IOException.class, () -> Introduction.decode(ByteBuffer.allocate(56)));
    assertThrows(IOException.class, () -> Introduction.decodeAccept(ByteBuffer.allocate(0)));
  }
}
