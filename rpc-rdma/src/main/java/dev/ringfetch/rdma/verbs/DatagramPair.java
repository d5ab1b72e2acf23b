package dev.ringfetch.rdma.verbs;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.RdmaCmId;
import dev.ringfetch.rdma.natives.ConnectionManager;
import dev.ringfetch.rdma.natives.Datagrams;
import dev.ringfetch.rdma.natives.Devices;
import dev.ringfetch.rdma.natives.Disni;
import dev.ringfetch.rdma.natives.PortLayout;
import dev.ringfetch.rdma.natives.QueuePairLayout;
import dev.ringfetch.rdma.natives.QueuePairs;
import dev.ringfetch.rdma.natives.Regions;
import dev.ringfetch.rdma.natives.Request;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A queue pair of unreliable datagrams beside a connection, with its completion queue and the
 * peer's address handle; an {@link Endpoint} owns it. The endpoint's threads set it up and free it
 * together with the endpoint. A thread that posts or polls must {@linkplain #enter enter} first;
 * once the pair is freed, no thread can.
 */
final class DatagramPair {
  /** Longest datagram in bytes: what every path takes whose hosts have Ethernet's usual frames. */
  static final int MAX_LENGTH = 1024;

  /** Code of an MTU of as many bytes. */
  private static final int MTU = 3;

  private static final int WANTED_INLINE = 256;

  private final AtomicBoolean busy = new AtomicBoolean();
  private final int queueKey;
  private final IbvPd domain;
  private IbvCQ completions;
  private long completionQueue;
  private long queuePair;
  private int maxInline;
  private long handle;

  private DatagramPair(IbvPd domain, int queueKey) {
    this.domain = domain;
    this.queueKey = queueKey;
  }

  /**
   * Creates a pair that is ready, at the port of an id, in the partition of its queue pair.
   *
   * @param connecting the id's queue pair.
   * @param channel of the completion queue, which DiSNI requires; no events are requested.
   * @param queueKey that senders must present.
   * @throws IOException where the device has none, or none left.
   */
  static DatagramPair open(
      IbvPd domain,
      RdmaCmId id,
      long connecting,
      IbvCompChannel channel,
      int queueKey,
      int sends,
      int receives)
      throws IOException {
    final int port = ConnectionManager.port(Disni.handle(id));
    final ByteBuffer state = Request.direct(PortLayout.SIZE);
    Devices.queryPort(Disni.handle(id.getVerbs()), port, Regions.address(state));
    if (state.getInt(PortLayout.ACTIVE_MTU) < MTU) {
      throw new IOException("packets are too short: MTU=" + state.getInt(PortLayout.ACTIVE_MTU));
    }
    final DatagramPair pair = new DatagramPair(domain, queueKey);
    boolean opened = false;
    try {
      pair.completions = id.getVerbs().createCQ(channel, Math.max(sends, receives), 0);
      pair.completionQueue = Disni.handle(pair.completions);
      final ByteBuffer capacity = Request.direct(QueuePairLayout.CAPACITY_SIZE);
      capacity
          .putInt(QueuePairLayout.MAX_SENDS, sends)
          .putInt(QueuePairLayout.MAX_RECEIVES, receives)
          .putInt(QueuePairLayout.MAX_SEND_SCATTERS, 1)
          .putInt(QueuePairLayout.MAX_RECEIVE_SCATTERS, 1)
          .putInt(QueuePairLayout.MAX_INLINE, WANTED_INLINE);
      pair.queuePair =
          Datagrams.create(
              Disni.handle(domain),
              pair.completions(),
              pair.completions(),
              Regions.address(capacity));
      pair.maxInline = capacity.getInt(QueuePairLayout.MAX_INLINE);
      Datagrams.activate(pair.queuePair, port, partition(connecting), queueKey);
      opened = true;
      return pair;
    } finally {
      if (!opened) {
        pair.release();
      }
    }
  }

  private static int partition(long connecting) throws IOException {
    final ByteBuffer attributes = Request.direct(QueuePairLayout.SIZE);
    QueuePairs.query(connecting, Regions.address(attributes));
    return Short.toUnsignedInt(attributes.getShort(QueuePairLayout.PARTITION));
  }

  /** Creates the address handle of a connected queue pair's peer. */
  void pointAtPeer(long connected) throws IOException {
    handle = Datagrams.createHandleOfPeer(Disni.handle(domain), connected);
  }

  /** The peer's address handle, or 0 as long as it is not known. */
  long handle() {
    return handle;
  }

  int queueKey() {
    return queueKey;
  }

  long queuePair() {
    return queuePair;
  }

  long completions() {
    return completionQueue;
  }

  /** Longest data in bytes that a post copies. */
  int maxInline() {
    return maxInline;
  }

  /** Number by which the peer sends to it, or knows it as the sender. */
  int number() {
    return QueuePairs.number(queuePair);
  }

  /**
   * Lets one thread post and poll until it {@linkplain #leave leaves}. False: another thread is in.
   */
  boolean enter() {
    return busy.compareAndSet(false, true);
  }

  void leave() {
    busy.set(false);
  }

  /** Frees everything; once. No thread can enter any more. */
  @SuppressWarnings("ThreadPriorityCheck") // the thread inside leaves soon
  void release() {
    while (!enter()) {
      Thread.yield();
    }
    Disni.giveBack(queuePair, Datagrams::destroy);
    Disni.giveBack(handle, Datagrams::destroyHandle);
    Disni.giveBack(completions, IbvCQ::destroyCQ);
  }
}
