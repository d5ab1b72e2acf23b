package dev.ringfetch.rdma.natives;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;

/**
 * Both ends of a reliable connection in one thread, each with an event channel, a completion queue
 * and a page of registered memory of its own.
 */
public final class RcLoop implements AutoCloseable {
  public static final int PAGE = 4096;
  public static final int DEPTH = 16;
  private static final int TIMEOUT_MS = 20_000;
  private static final int BACKLOG = 1;
  private static final int WANTED_INLINE = 64;

  /** One end: what it owns, and one request with one piece of memory to post. */
  public static final class End {
    public final ByteBuffer memory =
        direct(2 * PAGE).alignedSlice(PAGE).order(ByteOrder.nativeOrder());
    public final ByteBuffer request = direct(SendLayout.SIZE);
    public final ByteBuffer scatter = direct(ScatterLayout.SIZE);
    public final ByteBuffer completion = direct(CompletionLayout.SIZE);
    public final ByteBuffer event = direct(EventLayout.SIZE);
    public final ByteBuffer capacity = direct(QueuePairLayout.CAPACITY_SIZE);
    public final RdmaEventChannel channel;
    public RdmaCmId id;
    public IbvPd domain;
    public IbvCompChannel completionChannel;
    public IbvCQ completions;
    public IbvMr region;
    public long queue; // as the natives of the data path name it
    public long queuePair;

    public End() throws IOException {
      channel = RdmaEventChannel.createEventChannel();
    }

    /** Creates what needs a device, which the id is bound to. */
    public void open() throws IOException {
      IbvContext context = id.getVerbs();
      domain = context.allocPd();
      completionChannel = context.createCompChannel();
      completions = context.createCQ(completionChannel, 2 * DEPTH, 0);
      queue = Disni.handle(completions);
      int access =
          RegionLayout.LOCAL_WRITE
              | RegionLayout.REMOTE_WRITE
              | RegionLayout.REMOTE_READ
              | RegionLayout.REMOTE_ATOMIC
              | RegionLayout.BIND_WINDOWS;
      region = domain.regMr(Regions.address(memory), PAGE, access).execute().free().getMr();
      wish(capacity);
      queuePair =
          QueuePairs.create(
              Disni.handle(id), Disni.handle(domain), queue, queue, Regions.address(capacity));
    }

    /**
     * Posts the request with a piece of this end's memory, or none; the caller has set the rest.
     */
    public long post(int opcode, int flags, int offset, int length) {
      scatter(offset, length);
      request
          .putLong(SendLayout.NEXT, 0)
          .putLong(SendLayout.SCATTER, Regions.address(scatter))
          .putInt(SendLayout.SCATTER_COUNT, length == 0 ? 0 : 1)
          .putInt(SendLayout.OPCODE, opcode)
          .putInt(SendLayout.FLAGS, flags);
      return QueuePairs.postSend(queuePair, Regions.address(request));
    }

    /** Posts a receive into this end's memory. */
    public void postReceive(long receiver, long workRequestId, int offset, int length) {
      scatter(offset, length);
      ByteBuffer receive = direct(ReceiveLayout.SIZE);
      receive
          .putLong(ReceiveLayout.ID, workRequestId)
          .putLong(ReceiveLayout.SCATTER, Regions.address(scatter))
          .putInt(ReceiveLayout.SCATTER_COUNT, 1);
      assertEquals(0, QueuePairs.postReceive(receiver, Regions.address(receive)));
    }

    /** Names a piece of this end's memory. */
    public void scatter(int offset, int length) {
      scatter
          .putLong(ScatterLayout.ADDRESS, Regions.address(memory) + offset)
          .putInt(ScatterLayout.LENGTH, length)
          .putInt(ScatterLayout.KEY, region.getLkey());
    }

    /** Polls until a completion is there; returns its status. */
    public int await() {
      return await(queue);
    }

    public int await(long polled) {
      long begin = System.nanoTime();
      while (System.nanoTime() - begin < TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS)) {
        int count = CompletionQueues.poll(polled, 1, Regions.address(completion));
        if (count != 0) {
          assertEquals(1, count);
          return completion.getInt(CompletionLayout.STATUS);
        }
        Thread.onSpinWait();
      }
      return fail("no completion");
    }

    /** Takes the next event, which must be of the type; returns its status. */
    public int await(int type) {
      assertEquals(
          1,
          ConnectionManager.nextEvent(Disni.handle(channel), Regions.address(event), TIMEOUT_MS),
          "timeout");
      int seen = event.getInt(EventLayout.TYPE);
      assertEquals(
          Errors.connectionEventText(type),
          Errors.connectionEventText(seen),
          () -> "status=" + event.getInt(EventLayout.STATUS));
      return event.getInt(EventLayout.STATUS);
    }

    public byte[] privateData(int length) {
      byte[] data = new byte[length];
      event.get(EventLayout.PRIVATE_DATA, data);
      return data;
    }

    public void close() throws IOException {
      if (id != null) {
        QueuePairs.destroy(Disni.handle(id));
      }
      if (region != null && region.isOpen()) {
        region.deregMr().execute().free();
      }
      if (completions != null) {
        assertEquals(0, completions.destroyCQ());
        assertEquals(0, completionChannel.destroyCompChannel());
        assertEquals(0, assertDoesNotThrow(domain::deallocPd)); // declares them all
      }
      if (id != null) {
        assertEquals(0, id.destroyId());
      }
      assertEquals(0, channel.destroyEventChannel());
    }
  }

  public final End client = new End();
  public final End server = new End();
  private final RdmaCmId listener;
  private final ByteBuffer address = direct(AddressLayout.SIZE);

  /** Listens at an address of a device, on a port of the system's choice, and begins to connect. */
  public RcLoop(InetSocketAddress local) throws IOException {
    listener = Disni.createId(server.channel);
    ConnectionManager.setReuseAddress(Disni.handle(listener), true);
    AddressLayout.encode(local, address);
    ConnectionManager.bind(Disni.handle(listener), Regions.address(address));
    listener.listen(BACKLOG);
    client.id = Disni.createId(client.channel);
  }

  /** Resolves the listener's address, coming from the same host's. */
  public void resolve() throws IOException {
    ByteBuffer source = direct(AddressLayout.SIZE);
    ConnectionManager.localAddress(Disni.handle(listener), Regions.address(address));
    InetSocketAddress listening = AddressLayout.decode(address);
    AddressLayout.encode(new InetSocketAddress(listening.getAddress(), 0), source);
    ConnectionManager.resolveAddress(
        Disni.handle(client.id), Regions.address(source), Regions.address(address), TIMEOUT_MS);
    assertEquals(0, client.await(EventLayout.ADDRESS_RESOLVED));
    client.id.resolveRoute(TIMEOUT_MS);
    assertEquals(0, client.await(EventLayout.ROUTE_RESOLVED));
  }

  /** Asks for the connection; afterwards the server has its id and the request's event. */
  public void request(byte[] privateData) throws IOException {
    client.open();
    ByteBuffer data = bytes(privateData);
    ConnectionManager.connect(
        Disni.handle(client.id),
        ConnectionManager.ALL,
        7,
        7,
        Regions.address(data),
        privateData.length);
    server.await(EventLayout.CONNECT_REQUEST);
    assertEquals(Disni.handle(listener), server.event.getLong(EventLayout.LISTEN_ID));
    server.id = Disni.requested(server.event.getLong(EventLayout.ID), server.channel);
  }

  /** Accepts; afterwards the client has the event with the server's private data. */
  public void accept(byte[] privateData) throws IOException {
    server.open();
    ByteBuffer data = bytes(privateData);
    ConnectionManager.accept(
        Disni.handle(server.id),
        ConnectionManager.ALL,
        7,
        Regions.address(data),
        privateData.length);
    // The kernel tells the server only after the client has taken its answer.
    assertEquals(0, client.await(EventLayout.ESTABLISHED));
    assertEquals(0, server.await(EventLayout.ESTABLISHED));
  }

  public void reject(byte[] privateData) throws IOException {
    ByteBuffer data = bytes(privateData);
    ConnectionManager.reject(Disni.handle(server.id), Regions.address(data), privateData.length);
  }

  /** Makes the client's requests name a place in the server's memory. */
  public void target(int offset) {
    client
        .request
        .putLong(SendLayout.REMOTE_ADDRESS, Regions.address(server.memory) + offset)
        .putInt(SendLayout.REMOTE_KEY, server.region.getRkey());
  }

  public static void wish(ByteBuffer capacity) {
    capacity
        .putInt(QueuePairLayout.MAX_SENDS, DEPTH)
        .putInt(QueuePairLayout.MAX_RECEIVES, DEPTH)
        .putInt(QueuePairLayout.MAX_SEND_SCATTERS, 2)
        .putInt(QueuePairLayout.MAX_RECEIVE_SCATTERS, 1)
        .putInt(QueuePairLayout.MAX_INLINE, WANTED_INLINE);
  }

  public static ByteBuffer direct(int length) {
    return ByteBuffer.allocateDirect(length).order(ByteOrder.nativeOrder());
  }

  public static ByteBuffer bytes(byte[] content) {
    return direct(Math.max(1, content.length)).put(0, content);
  }

  @Override
  public void close() throws IOException {
    client.close();
    if (server.id != null) {
      QueuePairs.destroy(Disni.handle(server.id));
    }
    assertEquals(0, listener.destroyId());
    server.close();
  }
}
