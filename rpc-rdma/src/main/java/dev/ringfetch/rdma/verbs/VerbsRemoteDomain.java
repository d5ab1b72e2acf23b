package dev.ringfetch.rdma.verbs;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import dev.ringfetch.fabric.CompletionQueue;
import dev.ringfetch.fabric.FabricCapabilities;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.fabric.RemoteMemory;
import dev.ringfetch.fabric.Rights;
import dev.ringfetch.fabric.WorkRequests;
import dev.ringfetch.rdma.natives.Disni;
import dev.ringfetch.rdma.natives.EventLayout;
import dev.ringfetch.rdma.natives.RegionLayout;
import dev.ringfetch.rdma.natives.SendLayout;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The domain of a peer on verbs: a queue pair of this side, to which the peer's memory is known by
 * addresses and keys. The peer's device refuses what is not granted, which ends the connection.
 */
final class VerbsRemoteDomain implements RemoteDomain, DomainConnections.Watcher {
  private static final SegmentDescriptor[] NONE = {};

  private final DomainConnections connections;
  private final long domain;
  private final DomainDevice device;
  private final RdmaCmId id;
  private final DomainIntroduction.Answer peer;
  private final FabricCapabilities capabilities;
  private final DomainQueue queue;

  /** By number, with gaps. Replaced with the lock, read by any thread. */
  private volatile SegmentDescriptor[] segments = NONE;

  private volatile boolean ended;

  /** One thread at a time attaches. */
  private final ReentrantLock lock = new ReentrantLock();

  @GuardedBy("lock")
  private final List<VerbsMemory> scratches = new ArrayList<>();

  @GuardedBy("lock")
  private boolean released;

  private VerbsRemoteDomain(
      DomainConnections connections,
      long domain,
      Objects objects,
      DomainIntroduction.Answer peer,
      VerbsMemory words) {
    this.connections = connections;
    this.domain = domain;
    this.device = objects.device;
    this.id = objects.id;
    this.peer = peer;
    this.capabilities = VerbsFabric.capabilities(objects.queuePair.maxInline(), 0);
    this.queue = new DomainQueue(objects.queuePair, device.completions(), words);
    queue.start();
    scratches.add(words);
  }

  private record Objects(DomainDevice device, RdmaCmId id, DomainDevice.Opened queuePair) {}

  /**
   * Connects to a domain of a peer.
   *
   * @param devices of this host, held by the caller.
   */
  static VerbsRemoteDomain connect(
      DomainConnections connections,
      DeviceAddresses devices,
      DomainDescriptor to,
      Introduction.Token token,
      long timeoutNs)
      throws IOException {
    final Dialing dialing = new Dialing(connections::checkOpen, timeoutNs);
    final DomainIntroduction introduction = new DomainIntroduction(to.domain(), token);
    return dialing.tryAll(
        to.addresses(),
        to.port(),
        () -> {
          final RdmaEventChannel channel = dialing.begin();
          try {
            return connect(connections, devices, dialing, channel, introduction);
          } finally {
            Disni.giveBack(channel, RdmaEventChannel::destroyEventChannel);
          }
        });
  }

  private static VerbsRemoteDomain connect(
      DomainConnections connections,
      DeviceAddresses devices,
      Dialing dialing,
      RdmaEventChannel channel,
      DomainIntroduction introduction)
      throws IOException {
    final RdmaCmId id = Disni.createId(channel);
    DomainDevice device = null;
    VerbsMemory words = null;
    VerbsRemoteDomain made = null;
    boolean connected = false;
    try {
      dialing.resolve(id);
      device = DomainDevice.open(devices, id.getVerbs(), DomainQueue.DEPTH);
      words = device.register(DomainQueue.WORDS_LENGTH, RegionLayout.LOCAL_WRITE);
      final DomainDevice.Opened queuePair = device.createQueuePair(id, DomainQueue.DEPTH);
      final DomainIntroduction.Answer peer =
          DomainIntroduction.Answer.decode(dialing.present(id, introduction.encode()));
      made =
          new VerbsRemoteDomain(
              connections, introduction.domain(), new Objects(device, id, queuePair), peer, words);
      connections.add(made, id);
      connected = true;
      return made;
    } finally {
      if (!connected) {
        if (made != null) {
          made.queue.release(); // takes its tally out of the process's
        }
        DomainDevice.destroy(id);
        if (words != null) {
          DomainDevice.deregister(words);
        }
        if (device != null) {
          device.release();
        }
      }
    }
  }

  @Override
  public FabricCapabilities capabilities() {
    return capabilities;
  }

  @Override
  public Rights rights() {
    return peer.rights();
  }

  /** Work requests of this connection so far. */
  WorkRequestCounts counts() {
    return queue.counts();
  }

  /** Times that requests were handed to the device. */
  long doorbells() {
    return queue.doorbells();
  }

  private void checkOpen() throws IOException {
    if (isRevoked()) {
      throw new IOException("the connection has ended");
    }
  }

  /** Looks at the segment's mark, which takes a round trip. */
  @Override
  public int attach(byte[] segmentDescriptor) throws IOException {
    final SegmentDescriptor segment = SegmentDescriptor.decode(segmentDescriptor);
    if (segment.domain() != domain) {
      throw new IOException("not a segment of this domain");
    }
    lock.lock();
    try {
      checkOpen();
      if (queue.look(segment.mark()) != segment.nonce()) {
        throw new IOException("the segment is closed: number=" + segment.number());
      }
      if (find(segment.number()) == null) {
        put(segment.number(), segment);
      }
    } finally {
      lock.unlock();
    }
    return segment.number();
  }

  @Override
  public void detach(int segment) {
    lock.lock();
    try {
      if (find(segment) != null) {
        put(segment, null);
      }
    } finally {
      lock.unlock();
    }
  }

  private SegmentDescriptor find(int segment) {
    final SegmentDescriptor[] attached = segments;
    return segment >= 0 && segment < attached.length ? attached[segment] : null;
  }

  @GuardedBy("lock")
  private void put(int number, SegmentDescriptor segment) {
    final SegmentDescriptor[] grown =
        Arrays.copyOf(segments, Math.max(segments.length, number + 1));
    grown[number] = segment;
    segments = grown;
  }

  @Override
  public long length(int segment) {
    return readable(segment).length();
  }

  @Override
  public MemoryRegion view(int segment) {
    throw new IllegalStateException("memory of another host: segment=" + segment);
  }

  private RemoteMemory readable(int segment) {
    return segment == GATE ? peer.gate() : attached(segment);
  }

  private RemoteMemory attached(int segment) {
    final SegmentDescriptor attached = find(segment);
    if (attached == null) {
      throw new IllegalArgumentException("not attached: segment=" + segment);
    }
    return attached.memory();
  }

  @Override
  public MemoryRegion scratch(int length) throws IOException {
    WorkRequests.checkLength(length);
    lock.lock();
    try {
      checkOpen();
      final VerbsMemory scratch = device.register(length, RegionLayout.LOCAL_WRITE);
      scratches.add(scratch);
      return scratch;
    } finally {
      lock.unlock();
    }
  }

  private VerbsMemory own(MemoryRegion local) {
    if (local instanceof VerbsMemory memory && memory.isOf(device.domain())) {
      return memory;
    }
    throw new IllegalArgumentException("not of this connection: local=" + local);
  }

  @Override
  public int read(
      int segment,
      long offset,
      MemoryRegion local,
      int localOffset,
      int length,
      long workRequestId) {
    final RemoteMemory source = readable(segment);
    WorkRequests.checkTransfer(offset, source.length(), local, localOffset, length);
    if (isRevoked()) {
      return QueuePair.CLOSED;
    }
    return queue.read(
        source.address() + offset, source.rkey(), own(local), localOffset, length, workRequestId);
  }

  @Override
  public int write(
      int segment,
      long offset,
      MemoryRegion local,
      int localOffset,
      int length,
      long workRequestId) {
    WorkRequests.checkRights(rights(), Rights.WRITE);
    final RemoteMemory destination = attached(segment);
    WorkRequests.checkTransfer(offset, destination.length(), local, localOffset, length);
    if (isRevoked()) {
      return QueuePair.CLOSED;
    }
    return queue.write(
        destination.address() + offset,
        destination.rkey(),
        own(local),
        localOffset,
        length,
        workRequestId);
  }

  @Override
  public int compareAndSwap(
      int segment, long offset, long expected, long desired, long workRequestId) {
    return atomic(
        SendLayout.COMPARE_AND_SWAP,
        segment,
        offset,
        new long[] {expected, desired},
        workRequestId);
  }

  @Override
  public int fetchAndAdd(int segment, long offset, long delta, long workRequestId) {
    return atomic(SendLayout.FETCH_AND_ADD, segment, offset, new long[] {delta, 0}, workRequestId);
  }

  private int atomic(int opcode, int segment, long offset, long[] operands, long workRequestId) {
    WorkRequests.checkRights(rights(), Rights.ATOMIC);
    final RemoteMemory target = attached(segment);
    WorkRequests.checkWord(offset, target.length());
    if (isRevoked()) {
      return QueuePair.CLOSED;
    }
    return queue.atomic(
        opcode, target.address() + offset, target.rkey(), operands[0], operands[1], workRequestId);
  }

  @Override
  public void cork() {
    queue.cork();
  }

  @Override
  public void uncork() {
    queue.uncork();
  }

  @Override
  public CompletionQueue completions() {
    return queue;
  }

  @Override
  public boolean isRevoked() {
    return ended || queue.isBroken();
  }

  @Override
  public void onEvent(int type) {
    if (type == EventLayout.DEVICE_REMOVED) {
      device.removed();
      close();
    } else if (type != EventLayout.ESTABLISHED && !ended) {
      ended = true;
      queue.shut();
      DomainDevice.disconnect(id); // so that pending requests are flushed
    }
  }

  @Override
  public void close() {
    ended = true;
    connections.remove(this, id, this::release);
  }

  private void release() {
    queue.release(); // first: a thread that attaches, and so holds the lock, waits for it
    lock.lock();
    try {
      if (released) {
        return;
      }
      released = true;
      DomainDevice.disconnect(id);
      DomainDevice.destroy(id);
      scratches.forEach(DomainDevice::deregister);
      device.release();
    } finally {
      lock.unlock();
    }
  }
}
