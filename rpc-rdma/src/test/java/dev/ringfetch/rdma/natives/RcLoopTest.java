package dev.ringfetch.rdma.natives;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The natives against a real kernel and a real device: everything that a connection can do. */
@Tag("verbs")
final class RcLoopTest {
  private static final int SIGNALED = SendLayout.SIGNALED;
  private RcLoop loop;

  @BeforeEach
  void device() throws IOException {
    RdmaAssumptions.assumeDevice();
    NativeLibrary.require();
    loop = new RcLoop(new InetSocketAddress(local(Inet4Address.class), 0));
  }

  @AfterEach
  void close() throws IOException {
    if (loop != null) {
      loop.close();
    }
  }

  private void connect() throws IOException {
    loop.resolve();
    loop.request(new byte[0]);
    loop.accept(new byte[0]);
  }

  @Test
  void privateDataTravelsBothWays() throws IOException {
    loop.resolve();
    byte[] question = pattern(ConnectionManager.CONNECT_DATA);
    loop.request(question);
    assertArrayEquals(question, loop.server.privateData(question.length));
    assertTrue(loop.server.event.getInt(EventLayout.INITIATOR_DEPTH) > 0);
    byte[] answer = pattern(ConnectionManager.ACCEPT_DATA);
    loop.accept(answer);
    assertArrayEquals(answer, loop.client.privateData(answer.length));
    assertTrue(loop.client.event.getInt(EventLayout.RESPONDER_DEPTH) > 0);
  }

  @Test
  void rejectionCarriesItsReason() throws IOException {
    loop.resolve();
    loop.request(new byte[] {1});
    byte[] reason = "no room".getBytes(StandardCharsets.US_ASCII);
    loop.reject(reason);
    assertEquals(28, loop.client.await(EventLayout.REJECTED));
    assertArrayEquals(reason, loop.client.privateData(reason.length));
  }

  @Test
  void addressesOfBothFamiliesConnect() throws IOException {
    for (Class<? extends InetAddress> family : List.of(Inet4Address.class, Inet6Address.class)) {
      InetAddress host = local(family);
      if (host == null) {
        System.out.println("skipped: no address of " + family.getSimpleName());
        continue;
      }
      loop.close();
      loop = new RcLoop(new InetSocketAddress(host, 0));
      connect();
      ByteBuffer address = RcLoop.direct(AddressLayout.SIZE);
      ConnectionManager.peerAddress(Disni.handle(loop.client.id), Regions.address(address));
      assertArrayEquals(host.getAddress(), AddressLayout.decode(address).getAddress().getAddress());
      ConnectionManager.localAddress(Disni.handle(loop.client.id), Regions.address(address));
      assertArrayEquals(host.getAddress(), AddressLayout.decode(address).getAddress().getAddress());
    }
  }

  @Test
  void writeAndRead() throws IOException {
    connect();
    loop.client.memory.putLong(0, 42).putLong(8, 43);
    loop.target(64);
    loop.client.request.putLong(SendLayout.ID, 7);
    assertEquals(0, loop.client.post(SendLayout.WRITE, SIGNALED, 0, 16));
    assertEquals(CompletionLayout.SUCCESS, loop.client.await());
    assertEquals(7, loop.client.completion.getLong(CompletionLayout.ID));
    assertEquals(CompletionLayout.WRITE, loop.client.completion.getInt(CompletionLayout.OPCODE));
    assertEquals(
        QueuePairs.number(loop.client.queuePair),
        loop.client.completion.getInt(CompletionLayout.QUEUE_PAIR));
    assertEquals(42, loop.server.memory.getLong(64));
    assertEquals(0, loop.client.post(SendLayout.READ, SIGNALED, 128, 16));
    assertEquals(CompletionLayout.SUCCESS, loop.client.await());
    assertEquals(43, loop.client.memory.getLong(136));
  }

  @Test
  void atomicsReturnTheFormerValue() throws IOException {
    connect();
    loop.server.memory.putLong(64, 5);
    loop.client
        .request
        .putLong(SendLayout.REMOTE_ADDRESS, Regions.address(loop.server.memory) + 64)
        .putInt(SendLayout.ATOMIC_KEY, loop.server.region.getRkey())
        .putLong(SendLayout.ATOMIC_OPERAND, 5)
        .putLong(SendLayout.ATOMIC_SWAP, 9);
    assertEquals(0, loop.client.post(SendLayout.COMPARE_AND_SWAP, SIGNALED, 0, 8));
    assertEquals(CompletionLayout.SUCCESS, loop.client.await());
    assertEquals(5, loop.client.memory.getLong(0));
    assertEquals(9, loop.server.memory.getLong(64));
    assertEquals(0, loop.client.post(SendLayout.FETCH_AND_ADD, SIGNALED, 0, 8));
    assertEquals(CompletionLayout.SUCCESS, loop.client.await());
    assertEquals(9, loop.client.memory.getLong(0));
    assertEquals(14, loop.server.memory.getLong(64));
  }

  @Test
  void sendWakesTheSleeper() throws IOException {
    connect();
    loop.server.postReceive(loop.server.queuePair, 3, 0, 64);
    assertEquals(0, CompletionQueues.arm(loop.server.queue, true));
    assertEquals(0, CompletionQueues.nextEvent(Disni.handle(loop.server.completionChannel)));
    int immediate = Integer.reverseBytes(0x01020304);
    loop.client.request.putInt(SendLayout.IMMEDIATE, immediate);
    int flags = SIGNALED | SendLayout.SOLICITED | SendLayout.INLINE;
    assertEquals(0, loop.client.post(SendLayout.SEND_WITH_IMMEDIATE, flags, 0, 8));
    ByteBuffer entry = RcLoop.direct(PollLayout.SIZE);
    entry
        .putInt(
            PollLayout.DESCRIPTOR,
            CompletionQueues.channelDescriptor(Disni.handle(loop.server.completionChannel)))
        .putShort(PollLayout.WANTED, (short) PollLayout.READABLE);
    assertEquals(1, FileDescriptors.poll(Regions.address(entry), 1, 20_000_000_000L));
    assertEquals(
        loop.server.queue, CompletionQueues.nextEvent(Disni.handle(loop.server.completionChannel)));
    CompletionQueues.acknowledge(loop.server.queue, 1);
    assertEquals(CompletionLayout.SUCCESS, loop.server.await());
    assertEquals(3, loop.server.completion.getLong(CompletionLayout.ID));
    assertEquals(8, loop.server.completion.getInt(CompletionLayout.LENGTH));
    assertEquals(immediate, loop.server.completion.getInt(CompletionLayout.IMMEDIATE));
  }

  @Test
  void refusedPostNamesTheRequest() throws IOException {
    connect();
    ByteBuffer list = RcLoop.direct(3 * SendLayout.SIZE);
    for (int i = 0; i < 3; i++) {
      int at = i * SendLayout.SIZE;
      list.putInt(at + SendLayout.OPCODE, SendLayout.WRITE)
          .putLong(at + SendLayout.REMOTE_ADDRESS, Regions.address(loop.server.memory))
          .putInt(at + SendLayout.REMOTE_KEY, loop.server.region.getRkey())
          .putLong(
              at + SendLayout.NEXT,
              i == 2 ? 0 : Regions.address(list) + (i + 1) * (long) SendLayout.SIZE);
    }
    int granted = loop.client.capacity.getInt(QueuePairLayout.MAX_INLINE);
    assertTrue(granted < RcLoop.PAGE, () -> "inline=" + granted);
    loop.client.scatter(0, RcLoop.PAGE);
    int last = 2 * SendLayout.SIZE;
    list.putInt(last + SendLayout.FLAGS, SendLayout.INLINE)
        .putLong(last + SendLayout.SCATTER, Regions.address(loop.client.scatter))
        .putInt(last + SendLayout.SCATTER_COUNT, 1);
    long result = QueuePairs.postSend(loop.client.queuePair, Regions.address(list));
    assertTrue(QueuePairs.errno(result) < 0, () -> "result=" + result);
    assertEquals(2, QueuePairs.badIndex(result));
  }

  @Test
  void fenceRevokesAccess() throws IOException {
    connect();
    QueuePairs.changeAccess(loop.server.queuePair, RegionLayout.REMOTE_READ);
    loop.target(0);
    assertEquals(0, loop.client.post(SendLayout.READ, SIGNALED, 0, 8));
    assertEquals(CompletionLayout.SUCCESS, loop.client.await());
    assertEquals(0, loop.client.post(SendLayout.WRITE, SIGNALED, 0, 8));
    int status = loop.client.await();
    assertTrue(status != CompletionLayout.SUCCESS, () -> Errors.completionText(status));
    assertEquals(0, loop.server.memory.getLong(0));
  }

  @Test
  void deregistrationRevokesAccess() throws IOException {
    connect();
    loop.target(0);
    loop.server.region.deregMr().execute().free();
    assertEquals(0, loop.client.post(SendLayout.WRITE, SIGNALED, 0, 8));
    assertEquals(CompletionLayout.REMOTE_ACCESS_ERROR, loop.client.await());
  }

  @Test
  void failedQueuePairFlushes() throws IOException {
    connect();
    ByteBuffer attributes = RcLoop.direct(QueuePairLayout.SIZE);
    QueuePairs.changeMinRnrTimer(loop.client.queuePair, 12);
    QueuePairs.query(loop.client.queuePair, Regions.address(attributes));
    assertEquals(QueuePairLayout.READY_TO_SEND, attributes.getInt(QueuePairLayout.STATE));
    assertEquals(12, attributes.get(QueuePairLayout.MIN_RNR_TIMER));
    assertEquals(
        QueuePairs.number(loop.server.queuePair), attributes.getInt(QueuePairLayout.PEER_NUMBER));
    assertTrue(
        attributes.getInt(QueuePairLayout.CAPACITY + QueuePairLayout.MAX_SENDS) >= RcLoop.DEPTH);
    loop.client.postReceive(loop.client.queuePair, 1, 0, 8);
    QueuePairs.fail(loop.client.queuePair);
    QueuePairs.query(loop.client.queuePair, Regions.address(attributes));
    assertEquals(QueuePairLayout.ERROR, attributes.getInt(QueuePairLayout.STATE));
    assertEquals(CompletionLayout.FLUSHED, loop.client.await());
  }

  @Test
  void disconnectIsToldToBoth() throws IOException {
    connect();
    assertEquals(0, loop.client.id.disconnect());
    assertEquals(0, loop.server.await(EventLayout.DISCONNECTED));
    assertEquals(0, loop.server.id.disconnect());
    loop.client.await(EventLayout.DISCONNECTED);
  }

  /** HERD's way back: the peer's address is known from the connection, its number is told. */
  @Test
  void datagramReachesThePeerOfAConnection() throws IOException {
    connect();
    int queueKey = 0x11111111;
    int port = ConnectionManager.port(Disni.handle(loop.client.id));
    ByteBuffer capacity = RcLoop.direct(QueuePairLayout.CAPACITY_SIZE);
    RcLoop.End client = loop.client;
    RcLoop.End server = loop.server;
    RcLoop.wish(capacity);
    long receiver =
        Datagrams.create(
            Disni.handle(client.domain), client.queue, client.queue, Regions.address(capacity));
    RcLoop.wish(capacity);
    long sender =
        Datagrams.create(
            Disni.handle(server.domain), server.queue, server.queue, Regions.address(capacity));
    long handle = Datagrams.createHandleOfPeer(Disni.handle(server.domain), server.queuePair);
    try {
      Datagrams.activate(receiver, port, 0, queueKey);
      Datagrams.activate(sender, port, 0, queueKey);
      client.postReceive(receiver, 5, 0, 1024);
      server.memory.putLong(0, 77);
      server.request.putLong(SendLayout.SCATTER, Regions.address(server.scatter));
      server
          .scatter
          .putLong(ScatterLayout.ADDRESS, Regions.address(server.memory))
          .putInt(ScatterLayout.LENGTH, 8)
          .putInt(ScatterLayout.KEY, server.region.getLkey());
      server
          .request
          .putInt(SendLayout.SCATTER_COUNT, 1)
          .putInt(SendLayout.OPCODE, SendLayout.SEND)
          .putInt(SendLayout.FLAGS, SIGNALED)
          .putLong(SendLayout.DATAGRAM_HANDLE, handle)
          .putInt(SendLayout.DATAGRAM_QUEUE_PAIR, QueuePairs.number(receiver))
          .putInt(SendLayout.DATAGRAM_QUEUE_KEY, queueKey);
      assertEquals(0, QueuePairs.postSend(sender, Regions.address(server.request)));
      assertEquals(CompletionLayout.SUCCESS, server.await());
      assertEquals(CompletionLayout.SUCCESS, client.await());
      assertEquals(
          QueuePairs.number(sender), client.completion.getInt(CompletionLayout.SOURCE_QUEUE_PAIR));
      assertEquals(
          CompletionLayout.ROUTE_HEADER + 8, client.completion.getInt(CompletionLayout.LENGTH));
      assertEquals(77, client.memory.getLong(CompletionLayout.ROUTE_HEADER));
      Datagrams.destroyHandle(
          Datagrams.createHandleOfSender(
              Disni.handle(client.domain),
              Regions.address(client.completion),
              Regions.address(client.memory),
              port));
    } finally {
      Datagrams.destroyHandle(handle);
      Datagrams.destroy(sender);
      Datagrams.destroy(receiver);
    }
  }

  @Test
  void deviceTellsWhatItCan() throws IOException {
    List<String> names = Arrays.asList(Devices.names());
    long context = Devices.open(names.get(0));
    ByteBuffer device = RcLoop.direct(DeviceLayout.SIZE);
    Devices.query(context, Regions.address(device));
    assertTrue(device.getInt(DeviceLayout.MAX_REQUESTS) > 0);
    assertTrue(device.getInt(DeviceLayout.MAX_READS) > 0);
    assertTrue(device.get(DeviceLayout.PORTS) > 0);
    ByteBuffer port = RcLoop.direct(PortLayout.SIZE);
    Devices.queryPort(context, 1, Regions.address(port));
    assertTrue(port.getInt(PortLayout.GIDS) > 0);
    ByteBuffer gid = RcLoop.direct(PortLayout.GID_SIZE);
    Devices.queryGid(context, 1, 0, Regions.address(gid));
    assertTrue(gid.order(ByteOrder.BIG_ENDIAN).getLong(PortLayout.GID + 8) != 0);
    assertTrue(Devices.eventDescriptor(context) >= 0);
    assertEquals(
        0, Devices.nextEvent(context, Regions.address(RcLoop.direct(DeviceEventLayout.SIZE))));
    Devices.close(context);
    System.out.printf(
        "%s: %d READs, atomics level %d, windows %d, capabilities %x%n",
        names,
        device.getInt(DeviceLayout.MAX_READS),
        device.getInt(DeviceLayout.ATOMICS),
        device.getInt(DeviceLayout.MAX_WINDOWS),
        device.getInt(DeviceLayout.CAPABILITIES));
    IOException error = assertThrows(IOException.class, () -> Devices.open("none"));
    assertTrue(error.getMessage().contains("errno 19"), error::getMessage);
  }

  @Test
  void windowOpensAndCloses() throws IOException {
    connect();
    ByteBuffer device = RcLoop.direct(DeviceLayout.SIZE);
    Devices.query(Disni.handle(loop.server.id.getVerbs()), Regions.address(device));
    int windows = DeviceLayout.WINDOWS_2A | DeviceLayout.WINDOWS_2B;
    if ((device.getInt(DeviceLayout.CAPABILITIES) & windows) == 0) {
      System.out.println("skipped: the device has no windows of type 2");
      return;
    }
    RcLoop.End server = loop.server;
    long window = Regions.allocateWindow(Disni.handle(server.domain));
    try {
      int key = nextKey(Regions.windowKey(window));
      server
          .request
          .putLong(SendLayout.WINDOW, window)
          .putInt(SendLayout.WINDOW_KEY, key)
          .putLong(SendLayout.WINDOW_REGION, Disni.handle(server.region))
          .putLong(SendLayout.WINDOW_ADDRESS, Regions.address(server.memory))
          .putLong(SendLayout.WINDOW_LENGTH, 64)
          .putInt(SendLayout.WINDOW_ACCESS, RegionLayout.REMOTE_WRITE);
      assertEquals(0, server.post(SendLayout.BIND_WINDOW, SIGNALED, 0, 0));
      assertEquals(CompletionLayout.SUCCESS, server.await());
      loop.client.memory.putLong(0, 8);
      loop.target(0);
      loop.client.request.putInt(SendLayout.REMOTE_KEY, key);
      assertEquals(0, loop.client.post(SendLayout.WRITE, SIGNALED, 0, 8));
      assertEquals(CompletionLayout.SUCCESS, loop.client.await());
      assertEquals(8, server.memory.getLong(0));
      server.request.putInt(SendLayout.INVALIDATED_KEY, key);
      assertEquals(0, server.post(SendLayout.LOCAL_INVALIDATE, SIGNALED, 0, 0));
      assertEquals(CompletionLayout.SUCCESS, server.await());
      assertEquals(0, loop.client.post(SendLayout.WRITE, SIGNALED, 0, 8));
      assertEquals(CompletionLayout.REMOTE_ACCESS_ERROR, loop.client.await());
    } finally {
      Regions.freeWindow(window);
    }
  }

  private static int nextKey(int key) {
    return (key & ~0xFF) | ((key + 1) & 0xFF);
  }

  private static byte[] pattern(int length) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) (i + 1);
    }
    return bytes;
  }

  /** An address of an interface that is up and not the loopback, which no device is behind. */
  static InetAddress local(Class<? extends InetAddress> family) throws IOException {
    for (NetworkInterface network : NetworkInterface.networkInterfaces().toList()) {
      if (network.isUp() && !network.isLoopback()) {
        for (InetAddress address : network.inetAddresses().toList()) {
          if (family.isInstance(address)) {
            return address;
          }
        }
      }
    }
    return null;
  }
}
