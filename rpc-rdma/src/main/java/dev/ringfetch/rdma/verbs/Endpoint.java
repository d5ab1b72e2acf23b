package dev.ringfetch.rdma.verbs;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.RdmaCmId;
import dev.ringfetch.rdma.natives.AddressLayout;
import dev.ringfetch.rdma.natives.ConnectionManager;
import dev.ringfetch.rdma.natives.Disni;
import dev.ringfetch.rdma.natives.QueuePairLayout;
import dev.ringfetch.rdma.natives.QueuePairs;
import dev.ringfetch.rdma.natives.RegionLayout;
import dev.ringfetch.rdma.natives.Regions;
import dev.ringfetch.rdma.natives.Request;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The device objects of one side of a connection: id, queue pair, its two completion queues, and a
 * protection domain of its own with everything that is registered in it. Nothing is shared with
 * other connections, so damage by a peer is limited to this connection.
 *
 * <p>{@link #scratch}, {@link #registered} and {@link #release} exclude each other; everything else
 * belongs to the thread that sets the connection up.
 */
final class Endpoint {
  private static final Logger LOGGER = System.getLogger(Endpoint.class.getName());

  /** As much as is worth copying: a batch of small frames. The device may grant less. */
  private static final int WANTED_INLINE = 256;

  /** Retries of a lost packet; a larger number means endless retries at some devices. */
  static final int RETRIES = 6;

  /** Retries of a SEND without a receive, which happens only if a peer is broken. */
  static final int RNR_RETRIES = 6;

  /** 4.096 us times two to the power of it: 268 ms. With the retries a silent peer has 1.9 s. */
  private static final int ACK_TIMEOUT = 16;

  private static final int MEMORY_ACCESS =
      RegionLayout.LOCAL_WRITE
          | RegionLayout.REMOTE_WRITE
          | RegionLayout.REMOTE_READ
          | RegionLayout.REMOTE_ATOMIC;

  /** A line, for the one word in it. */
  private static final int CREDIT_LENGTH = 64;

  private static final int MIRROR_ACCESS = RegionLayout.LOCAL_WRITE | RegionLayout.REMOTE_WRITE;

  private final DeviceAddresses devices; // held until the end
  private final long device; // handle of its context, entered until the end
  private final IbvPd domain;
  private final VerbsMemory memory;
  private VerbsMemory creditLine;

  @GuardedBy("this")
  private final List<VerbsMemory> beside = new ArrayList<>(2);

  @GuardedBy("this")
  private int numbers; // of registered memory

  @GuardedBy("this")
  private boolean released;

  private RdmaCmId id;
  private CompletionChannels channels; // null: not joined
  private IbvCQ sendCompletions;
  private IbvCQ receiveCompletions;
  private long queuePair;
  private int maxInline;
  private DatagramPair datagrams; // null: none

  private Endpoint(
      DeviceAddresses devices, IbvContext context, IbvPd domain, int length, int access)
      throws IOException {
    this.domain = domain;
    this.memory = VerbsMemory.register(domain, length, access);
    this.devices = devices.hold();
    this.device = Disni.handle(context);
    OpenDevices.enter(device);
  }

  /**
   * Registers memory that a peer will WRITE, READ and count in.
   *
   * @param devices held by the caller.
   */
  static Endpoint offering(DeviceAddresses devices, IbvContext context, int length)
      throws IOException {
    return allocate(devices, context, length, MEMORY_ACCESS);
  }

  /**
   * Registers this side's copy of a peer's memory, into which the peer WRITEs and no more.
   *
   * @param devices held by the caller.
   */
  static Endpoint mirroring(DeviceAddresses devices, IbvContext context, int length)
      throws IOException {
    return allocate(devices, context, length, MIRROR_ACCESS);
  }

  private static Endpoint allocate(
      DeviceAddresses devices, IbvContext context, int length, int access) throws IOException {
    final IbvPd domain = context.allocPd();
    boolean registered = false;
    try {
      final Endpoint endpoint = new Endpoint(devices, context, domain, length, access);
      registered = true;
      return endpoint;
    } finally {
      if (!registered) {
        Disni.giveBack(domain, IbvPd::deallocPd);
      }
    }
  }

  /**
   * Creates the queue pair of an id, which is the endpoint's from here on, even if this throws.
   *
   * @param channels one of which gets the events of completions.
   * @throws IOException also when the id is at another device than the memory.
   */
  void open(RdmaCmId id, CompletionChannels channels) throws IOException {
    this.id = id;
    final IbvContext context = id.getVerbs();
    if (Disni.handle(context) != device) {
      throw new IOException("the id is at another device than the memory");
    }
    final IbvCompChannel channel = channels.join(context);
    this.channels = channels;
    creditLine = register(CREDIT_LENGTH, MIRROR_ACCESS);
    sendCompletions = context.createCQ(channel, SendQueue.DEPTH, 0);
    receiveCompletions = context.createCQ(channel, ReceiveQueue.DEPTH, 0);
    final ByteBuffer capacity = Request.direct(QueuePairLayout.CAPACITY_SIZE);
    capacity
        .putInt(QueuePairLayout.MAX_SENDS, SendQueue.DEPTH)
        .putInt(QueuePairLayout.MAX_RECEIVES, ReceiveQueue.DEPTH)
        .putInt(QueuePairLayout.MAX_SEND_SCATTERS, 1)
        .putInt(QueuePairLayout.MAX_RECEIVE_SCATTERS, 1)
        .putInt(QueuePairLayout.MAX_INLINE, WANTED_INLINE);
    queuePair =
        QueuePairs.create(
            Disni.handle(id),
            Disni.handle(domain),
            sendCompletions(),
            receiveCompletions(),
            Regions.address(capacity));
    maxInline = capacity.getInt(QueuePairLayout.MAX_INLINE);
  }

  /**
   * Opens a pair of datagrams beside the queue pair, if the device has one.
   *
   * @param queueKey that senders must present.
   * @return whether there is.
   */
  boolean openDatagrams(int queueKey, int sends, int receives) {
    try {
      datagrams =
          DatagramPair.open(
              domain, id, queuePair, sendCompletions.getChannel(), queueKey, sends, receives);
      return true;
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "no datagrams", e);
      return false;
    }
  }

  /** Frees the pair of datagrams: the peer has none. Before the endpoint is used. */
  void closeDatagrams() {
    if (datagrams != null) {
      datagrams.release();
      datagrams = null;
    }
  }

  /** The pair of datagrams, or null. */
  DatagramPair datagrams() {
    return datagrams;
  }

  /**
   * Memory that only this side's own requests and receives reach.
   *
   * @throws IOException also when the endpoint was released.
   */
  VerbsMemory scratch(int length) throws IOException {
    return register(length, RegionLayout.LOCAL_WRITE);
  }

  /**
   * Memory beside the session's that the peer may READ, and no more.
   *
   * @throws IOException also when the endpoint was released.
   */
  synchronized VerbsRegistered registered(int length) throws IOException {
    final VerbsMemory made = register(length, RegionLayout.REMOTE_READ);
    return new VerbsRegistered(made, memory.named(), numbers++);
  }

  private synchronized VerbsMemory register(int length, int access) throws IOException {
    if (released) {
      throw new IOException("the connection has ended");
    }
    final VerbsMemory registered = VerbsMemory.register(domain, length, access);
    beside.add(registered);
    return registered;
  }

  /** Marks the device as removed: it is released with the last object that is bound to it. */
  void removed() {
    OpenDevices.remove(device);
  }

  /** Id of the connection; null before {@link #open}. */
  RdmaCmId id() {
    return id;
  }

  IbvPd domain() {
    return domain;
  }

  // The natives of the data path take the objects that they post to and poll from as pointers.

  long queuePair() {
    return queuePair;
  }

  long sendCompletions() {
    return Disni.handle(sendCompletions);
  }

  long receiveCompletions() {
    return Disni.handle(receiveCompletions);
  }

  /** Longest data in bytes that a post copies. */
  int maxInline() {
    return maxInline;
  }

  /** The session's memory, as this side has it. */
  VerbsMemory memory() {
    return memory;
  }

  /** The word into which the peer WRITEs how many rings it has received. */
  VerbsMemory creditLine() {
    return creditLine;
  }

  /** The description of this side's memory that the peer gets. */
  Introduction.Side side() {
    return new Introduction.Side(
        memory.named(), creditLine.named(), datagrams == null ? 0 : datagrams.number());
  }

  /**
   * Frees everything: the queue pair first, after which the device touches no memory any more. No
   * thread posts or polls meanwhile or later; once the endpoint was opened, only the doorbell's
   * owner calls this. Idempotent.
   */
  synchronized void release() {
    if (released) {
      return;
    }
    released = true;
    if (id != null) {
      QueuePairs.destroy(Disni.handle(id));
    }
    closeDatagrams();
    deregister(memory);
    beside.forEach(Endpoint::deregister);
    beside.clear(); // the memory is of no use any more
    Disni.giveBack(receiveCompletions, IbvCQ::destroyCQ);
    Disni.giveBack(sendCompletions, IbvCQ::destroyCQ);
    Disni.giveBack(domain, IbvPd::deallocPd);
    if (channels != null) {
      channels.leave(device);
    }
    OpenDevices.leave(device);
    Disni.giveBack(id, RdmaCmId::destroyId);
    devices.close();
  }

  private static void deregister(VerbsMemory memory) {
    try {
      memory.deregister();
    } catch (IOException e) {
      LOGGER.log(Level.WARNING, "memory stays registered", e);
    }
  }

  /** Sets how soon a silent peer is given up. Before the connection is made. */
  static void setTimeouts(RdmaCmId id) {
    try {
      ConnectionManager.setAckTimeout(Disni.handle(id), ACK_TIMEOUT);
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "the kernel is too old to set it", e); // its own is longer
    }
  }

  /** The address of an id's peer, for messages. */
  static String peerAddress(RdmaCmId id) {
    final ByteBuffer address = Request.direct(AddressLayout.SIZE);
    ConnectionManager.peerAddress(Disni.handle(id), Regions.address(address));
    return String.valueOf(AddressLayout.decode(address));
  }
}
