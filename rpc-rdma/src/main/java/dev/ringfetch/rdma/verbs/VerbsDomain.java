package dev.ringfetch.rdma.verbs;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.ibm.disni.verbs.RdmaCmId;
import dev.ringfetch.fabric.Domain;
import dev.ringfetch.fabric.DomainAdmission;
import dev.ringfetch.fabric.DomainContext;
import dev.ringfetch.fabric.DomainSegment;
import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.fabric.GatePage;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.RemoteMemory;
import dev.ringfetch.fabric.Rights;
import dev.ringfetch.fabric.WorkRequests;
import dev.ringfetch.rdma.natives.AddressLayout;
import dev.ringfetch.rdma.natives.ConnectionManager;
import dev.ringfetch.rdma.natives.Disni;
import dev.ringfetch.rdma.natives.EventLayout;
import dev.ringfetch.rdma.natives.RegionLayout;
import dev.ringfetch.rdma.natives.Regions;
import dev.ringfetch.rdma.natives.Request;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A domain on verbs: memory that is registered at one device, the first that was found, in a
 * protection domain of its own. Each peer has a queue pair in it, so one registration serves all.
 *
 * <p>Registered memory is locked: {@link DomainContext#sparse} has no effect. It ends with the
 * process, whatever the gate says.
 */
final class VerbsDomain implements Domain {
  /** Peers post nothing that would complete on this side. */
  private static final int COMPLETIONS = 16;

  /** Length of the memory that has the marks of segments, a word each. */
  private static final int MARKS_LENGTH = 4096;

  private static final int MARKS = MARKS_LENGTH / Long.BYTES;
  private static final int READABLE = RegionLayout.REMOTE_READ;
  private static final SecureRandom RANDOM = new SecureRandom();

  private final DomainConnections connections;
  private final DomainContext context;
  private final DomainDevice device;
  private final long id = RANDOM.nextLong();
  private final byte[] descriptor;
  private final List<DeviceAddress> addresses;
  private final GatePage gate;
  private final VerbsMemory gateMemory;
  private final RdmaCmId bound; // tells of the device's removal

  /** Guarded by the lock of the connections. */
  private final List<DomainPeer> peers = new ArrayList<>();

  /** Set with the lock of the connections held. */
  private volatile String closedBecause;

  /** Taken after the lock of the connections. */
  private final ReentrantLock memoryLock = new ReentrantLock();

  /** Those that are open. */
  @GuardedBy("memoryLock")
  private final List<OwnSegment> segments = new ArrayList<>();

  @GuardedBy("memoryLock")
  private final List<VerbsMemory> marks = new ArrayList<>();

  @GuardedBy("memoryLock")
  private long memory;

  @GuardedBy("memoryLock")
  private int grown;

  @GuardedBy("memoryLock")
  private boolean released;

  private VerbsDomain(
      DomainConnections connections,
      DomainContext context,
      DomainDevice device,
      List<DeviceAddress> addresses,
      RdmaCmId bound)
      throws IOException {
    this.connections = connections;
    this.context = context;
    this.device = device;
    this.addresses = addresses;
    this.bound = bound;
    this.descriptor =
        new DomainDescriptor(
                id, connections.port(), addresses.stream().map(DeviceAddress::host).toList())
            .encode();
    if (context.gate() == null) {
      gateMemory = device.register(GateDescriptor.LENGTH, READABLE);
      gate = GatePage.in(gateMemory);
    } else {
      gate = context.gate();
      gateMemory = device.adopt(gate.region(), READABLE);
    }
  }

  /**
   * Opens a domain.
   *
   * @param devices held by the caller.
   */
  static VerbsDomain open(
      DomainConnections connections, DeviceAddresses devices, DomainContext context)
      throws IOException {
    final List<DeviceAddress> addresses = devices.first();
    final DomainDevice device = DomainDevice.open(devices, addresses.get(0).context(), COMPLETIONS);
    RdmaCmId bound = null;
    boolean opened = false;
    connections.lock().lock();
    try {
      bound = bind(connections, addresses.get(0));
      final VerbsDomain domain = new VerbsDomain(connections, context, device, addresses, bound);
      connections.add(domain);
      connections.watch(bound, domain::onEvent);
      opened = true;
      return domain;
    } finally {
      if (!opened) {
        Disni.giveBack(bound, RdmaCmId::destroyId);
        device.release();
      }
      connections.lock().unlock();
    }
  }

  private static RdmaCmId bind(DomainConnections connections, DeviceAddress address)
      throws IOException {
    final RdmaCmId id = connections.createId();
    boolean isBound = false;
    try {
      final ByteBuffer local = Request.direct(AddressLayout.SIZE);
      AddressLayout.encode(new InetSocketAddress(address.host(), 0), local);
      ConnectionManager.bind(Disni.handle(id), Regions.address(local));
      isBound = true;
      return id;
    } finally {
      if (!isBound) {
        Disni.giveBack(id, RdmaCmId::destroyId);
      }
    }
  }

  /** Number by which peers name the domain. */
  long id() {
    return id;
  }

  DomainDevice device() {
    return device;
  }

  /** What a peer that is let in gets to know. */
  ByteBuffer answer() {
    return new DomainIntroduction.Answer(rights(), gateMemory.named()).encode();
  }

  @Override
  public Rights rights() {
    return context.rights();
  }

  @Override
  public byte[] descriptor() {
    return descriptor.clone();
  }

  @Override
  public GatePage gate() {
    return gate;
  }

  private int access() {
    return switch (rights()) {
      case READ -> READABLE;
      case WRITE -> READABLE | RegionLayout.LOCAL_WRITE | RegionLayout.REMOTE_WRITE;
      case ATOMIC ->
          READABLE
              | RegionLayout.LOCAL_WRITE
              | RegionLayout.REMOTE_WRITE
              | RegionLayout.REMOTE_ATOMIC;
    };
  }

  @Override
  public DomainSegment grow(int length) throws IOException {
    WorkRequests.checkLength(length);
    return add(length, null);
  }

  @Override
  public DomainSegment adopt(MemoryRegion adopted) throws IOException {
    WorkRequests.checkLength(adopted.length());
    return add(adopted.length(), adopted);
  }

  /** Adds a segment, of memory that is there already unless it is null. */
  private OwnSegment add(int length, MemoryRegion adopted) throws IOException {
    memoryLock.lock();
    try {
      checkOpen();
      context.checkGrowth(grown, memory, length);
      if (grown / MARKS == marks.size()) {
        marks.add(device.register(MARKS_LENGTH, READABLE));
      }
      final VerbsMemory registered =
          adopted == null ? device.register(length, access()) : device.adopt(adopted, access());
      final OwnSegment segment =
          new OwnSegment(grown, registered, adopted == null ? registered : adopted);
      grown++;
      memory += length;
      segments.add(segment);
      return segment;
    } finally {
      memoryLock.unlock();
    }
  }

  private void checkOpen() throws IOException {
    if (closedBecause != null) {
      throw new IOException(closedBecause);
    }
  }

  @Override
  public DomainAdmission admit(byte[] peerHint, byte[] token) throws IOException {
    final Introduction.Token secret = Introduction.Token.of(token);
    DeviceAddresses.checkReached(addresses, peerHint);
    connections.lock().lock();
    try {
      checkOpen();
      if (peers.size() >= context.peerLimit()) {
        throw new IOException("too many peers: peerLimit=" + context.peerLimit());
      }
      final DomainPeer peer = new DomainPeer(this, connections, secret);
      peers.add(peer);
      return peer;
    } finally {
      connections.lock().unlock();
    }
  }

  /** The admission that a token belongs to, or null. With the lock of the connections held. */
  DomainPeer take(Introduction.Token presented) {
    for (final DomainPeer peer : peers) {
      if (peer.isPresentedBy(presented)) {
        return peer;
      }
    }
    return null;
  }

  /** Removes an admission that was closed. With the lock of the connections held. */
  void forget(DomainPeer peer) {
    peers.remove(peer);
  }

  private void onEvent(int type) {
    if (type == EventLayout.DEVICE_REMOVED) {
      deviceRemoved();
    }
  }

  /** Ends the domain; its owner keeps the memory. With the lock of the connections held. */
  void deviceRemoved() {
    device.removed();
    close("the RDMA device of the domain was removed");
  }

  @Override
  public void close() {
    close("the domain is closed");
  }

  private void close(String reason) {
    connections.lock().lock();
    try {
      if (closedBecause != null) {
        return;
      }
      closedBecause = reason;
      List.copyOf(peers).forEach(DomainPeer::close);
      connections.remove(this);
      connections.forget(bound);
      Disni.giveBack(bound, RdmaCmId::destroyId);
      release();
    } finally {
      connections.lock().unlock();
    }
  }

  private void release() {
    memoryLock.lock();
    try {
      released = true;
      segments.forEach(segment -> DomainDevice.deregister(segment.registered));
      segments.clear();
      marks.forEach(DomainDevice::deregister);
      DomainDevice.deregister(gateMemory);
      device.release();
    } finally {
      memoryLock.unlock();
    }
  }

  @Override
  public String toString() {
    return "VerbsDomain[" + addresses.get(0).host().getHostAddress() + "]";
  }

  private final class OwnSegment implements DomainSegment {
    private final int number;
    private final VerbsMemory registered;
    private final MemoryRegion region;
    private final byte[] address;

    OwnSegment(int number, VerbsMemory registered, MemoryRegion region) {
      this.number = number;
      this.registered = registered;
      this.region = region;
      final long nonce = RANDOM.nextLong() | 1; // not 0
      mark().putLongRelease(markOffset(), nonce);
      this.address =
          new SegmentDescriptor(
                  id,
                  number,
                  registered.named(),
                  nonce,
                  new RemoteMemory(
                      mark().address() + markOffset(), Long.BYTES, mark().named().rkey()))
              .encode();
    }

    @GuardedBy("VerbsDomain.this.memoryLock")
    private VerbsMemory mark() {
      return marks.get(number / MARKS);
    }

    private int markOffset() {
      return number % MARKS * Long.BYTES;
    }

    @Override
    public int number() {
      return number;
    }

    @Override
    public long length() {
      return region.length();
    }

    @Override
    public MemoryRegion region() {
      return region;
    }

    @Override
    public byte[] descriptor() {
      return address.clone();
    }

    @Override
    public void close() {
      memoryLock.lock();
      try {
        if (!released && segments.remove(this)) {
          mark().putLongRelease(markOffset(), 0);
          mark().fullFence();
          memory -= region.length();
          DomainDevice.deregister(registered);
        }
      } finally {
        memoryLock.unlock();
      }
    }
  }
}
