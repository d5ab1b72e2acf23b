package dev.ringfetch.examples.verbs;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import dev.ringfetch.rdma.natives.ConnectionManager;
import dev.ringfetch.rdma.natives.Disni;
import dev.ringfetch.rdma.natives.Errors;
import dev.ringfetch.rdma.natives.EventLayout;
import dev.ringfetch.rdma.natives.QueuePairLayout;
import dev.ringfetch.rdma.natives.QueuePairs;
import dev.ringfetch.rdma.natives.RegionLayout;
import dev.ringfetch.rdma.natives.Regions;
import dev.ringfetch.rdma.natives.Request;
import dev.ringfetch.rdma.natives.SendLayout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;

/**
 * The device objects of one end of a reliable connection: an id with its events, a queue pair, a
 * completion queue and a page of registered memory. One thread. A wait for the peer takes at most
 * {@value #PATIENCE_SECONDS} seconds.
 */
final class BareEnd implements AutoCloseable {
  /** Slot of the request: stored by the client, WRITTEN to the server. */
  static final int REQUEST = 0;

  /** Slot of the answer: stored by the server, READ or WRITTEN to the client. */
  static final int ANSWER = 128;

  /** Where buffers of datagrams begin. */
  static final int DATAGRAMS = 1024;

  /** Bytes of memory. */
  static final int LENGTH = 4096;

  static final int PATIENCE_SECONDS = 10;
  static final int PATIENCE_MS = (int) TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS);
  private static final int RETRIES = 7;

  private final ByteBuffer memory =
      ByteBuffer.allocateDirect(2 * LENGTH).alignedSlice(LENGTH).order(ByteOrder.nativeOrder());
  private final ByteBuffer event = Request.direct(EventLayout.SIZE);
  private final ByteBuffer capacity = Request.direct(QueuePairLayout.CAPACITY_SIZE);
  private final ByteBuffer greeting = Request.direct(BareGreeting.LENGTH);
  private final RdmaEventChannel channel;
  private RdmaCmId id;
  private IbvPd domain;
  private IbvCompChannel completionChannel;
  private IbvCQ completionQueue;
  private IbvMr region;
  private long queuePair;

  BareEnd() throws IOException {
    channel = RdmaEventChannel.createEventChannel();
  }

  /** Creates an id of this end's channel, which the caller destroys if it is not {@link #use}d. */
  RdmaCmId createId() throws IOException {
    return Disni.createId(channel);
  }

  /** Makes an id that is bound to a device this end's own, with all that belongs to it. */
  void use(RdmaCmId boundId) throws IOException {
    id = boundId;
    final IbvContext context = id.getVerbs();
    domain = context.allocPd();
    completionChannel = context.createCompChannel(); // DiSNI has no queue without; never armed
    completionQueue = context.createCQ(completionChannel, BareSignals.DEPTH, 0);
    region =
        domain
            .regMr(
                Regions.address(memory),
                LENGTH,
                RegionLayout.LOCAL_WRITE | RegionLayout.REMOTE_WRITE | RegionLayout.REMOTE_READ)
            .execute()
            .free()
            .getMr();
    wish(capacity, 1);
    queuePair =
        QueuePairs.create(
            Disni.handle(id),
            Disni.handle(domain),
            Disni.handle(completionQueue),
            Disni.handle(completionQueue),
            Regions.address(capacity));
  }

  /** Asks for a queue pair with room for that many receives. */
  static void wish(ByteBuffer capacity, int receives) {
    capacity
        .putInt(QueuePairLayout.MAX_SENDS, BareSignals.DEPTH)
        .putInt(QueuePairLayout.MAX_RECEIVES, receives)
        .putInt(QueuePairLayout.MAX_SEND_SCATTERS, 1)
        .putInt(QueuePairLayout.MAX_RECEIVE_SCATTERS, 1)
        .putInt(QueuePairLayout.MAX_INLINE, BareFrame.TRANSFER_LENGTH);
  }

  /** Flag of a request that sends a frame: inline if that was granted. */
  static int inlineFlag(ByteBuffer capacity) {
    return capacity.getInt(QueuePairLayout.MAX_INLINE) >= BareFrame.TRANSFER_LENGTH
        ? SendLayout.INLINE
        : 0;
  }

  int inlineFlag() {
    return inlineFlag(capacity);
  }

  /** Connects, as the client, and says hello. */
  void connect(BareMode mode, int datagrams) throws IOException {
    greet(mode, datagrams);
    ConnectionManager.connect(
        Disni.handle(id),
        ConnectionManager.ALL,
        RETRIES,
        RETRIES,
        Regions.address(greeting),
        BareGreeting.LENGTH);
  }

  /** Accepts, as the server, and says hello. */
  void accept(BareMode mode, int datagrams) throws IOException {
    greet(mode, datagrams);
    ConnectionManager.accept(
        Disni.handle(id),
        ConnectionManager.ALL,
        RETRIES,
        Regions.address(greeting),
        BareGreeting.LENGTH);
  }

  private void greet(BareMode mode, int datagrams) {
    new BareGreeting(mode, address(0), region.getRkey(), datagrams).encode(greeting, 0);
  }

  /**
   * Waits for an event.
   *
   * @throws IOException if another one comes, or none.
   */
  void await(int type) throws IOException {
    final int count =
        ConnectionManager.nextEvent(Disni.handle(channel), Regions.address(event), PATIENCE_MS);
    if (count < 0) {
      throw new IOException("event: errno " + -count);
    }
    if (count == 0) {
      throw new IOException(
          "no " + Errors.connectionEventText(type) + " within " + PATIENCE_SECONDS + " s");
    }
    final int seen = event.getInt(EventLayout.TYPE);
    if (seen != type || event.getInt(EventLayout.STATUS) != 0) {
      throw new IOException(
          Errors.connectionEventText(seen)
              + ", status "
              + event.getInt(EventLayout.STATUS)
              + ", instead of "
              + Errors.connectionEventText(type));
    }
  }

  /** Id of the connect request that was awaited last. */
  RdmaCmId requestedId() throws IOException {
    return Disni.requested(event.getLong(EventLayout.ID), channel);
  }

  /** The other end's greeting in the last awaited event. */
  BareGreeting greetingOfPeer() throws IOException {
    if (event.getInt(EventLayout.PRIVATE_LENGTH) < BareGreeting.LENGTH) {
      throw new IOException("the peer did not say who it is");
    }
    return BareGreeting.decode(event, EventLayout.PRIVATE_DATA);
  }

  BareFrame frame(int slot) {
    return new BareFrame(memory, slot);
  }

  /** Address of a place in this end's memory. */
  long address(int offset) {
    return Regions.address(memory) + offset;
  }

  int localKey() {
    return region.getLkey();
  }

  RdmaCmId id() {
    return id;
  }

  IbvPd domain() {
    return domain;
  }

  /** Channel of this end's completion queues, which no thread reads. */
  IbvCompChannel completionChannel() {
    return completionChannel;
  }

  long queuePair() {
    return queuePair;
  }

  /** The send side; to be asked for once. */
  BareSendQueue sendQueue() {
    return new BareSendQueue(queuePair, Disni.handle(completionQueue));
  }

  /** Ends the connection, if there is one, and frees everything. */
  @Override
  public void close() throws IOException {
    if (queuePair != 0) {
      QueuePairs.destroy(Disni.handle(id));
    }
    if (region != null) {
      region.deregMr().execute().free();
    }
    Disni.giveBack(completionQueue, IbvCQ::destroyCQ);
    Disni.giveBack(completionChannel, IbvCompChannel::destroyCompChannel);
    Disni.giveBack(domain, IbvPd::deallocPd);
    Disni.giveBack(id, RdmaCmId::destroyId);
    Disni.giveBack(channel, RdmaEventChannel::destroyEventChannel);
  }
}
