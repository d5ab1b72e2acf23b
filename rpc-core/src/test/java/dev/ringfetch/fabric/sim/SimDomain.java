package dev.ringfetch.fabric.sim;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.Domain;
import dev.ringfetch.fabric.DomainAdmission;
import dev.ringfetch.fabric.DomainContext;
import dev.ringfetch.fabric.DomainSegment;
import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.fabric.GatePage;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.Rights;
import dev.ringfetch.fabric.WorkRequests;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * A domain of one process of a simulated network. Where memory is shared, it outlives a process
 * that is killed; where a card stands between, the connections end with the process.
 */
final class SimDomain implements Domain {
  private static final int WHOLE = -1;
  private static final int DESCRIPTOR_LENGTH = 20;

  private final SimFabric process;
  private final SimNetwork network;
  private final DomainContext context;
  private final long id;
  private final long key;
  private final GatePage gate;
  private final SimRegion stores; // of the owner, to all memory of the domain
  private final List<SimSegment> segments = new ArrayList<>(); // by number
  private final Map<String, SimAdmission> offered = new HashMap<>(); // by token
  private final List<SimAdmission> admissions = new ArrayList<>();
  private long memory;
  private boolean closed;

  SimDomain(SimFabric process, DomainContext context) {
    this.process = process;
    this.network = process.network();
    this.context = context;
    this.id = network.nextId();
    this.key = network.timeline().random().nextLong();
    this.stores = new SimRegion(process, new DirectRegion(GateDescriptor.LENGTH));
    this.gate = context.gate() == null ? GatePage.in(stores) : context.gate();
    network.regions().add(stores);
  }

  long id() {
    return id;
  }

  SimFabric process() {
    return process;
  }

  /** The gate's page as others reach it. */
  DirectRegion gateMemory() {
    if (gate.region() instanceof SimRegion region) {
      return region.memory();
    }
    throw new IllegalArgumentException("not of this network: gate=" + gate);
  }

  /** The process of this domain is dead. */
  void kill(boolean keepStores) {
    if (keepStores) {
      stores.drain();
    } else {
      stores.drop();
    }
    network.regions().remove(stores);
    if (!network.context().loadStore()) {
      network.domains().remove(id);
      List.copyOf(admissions).forEach(SimAdmission::end);
    }
  }

  @Override
  public Rights rights() {
    return context.rights();
  }

  @Override
  public byte[] descriptor() {
    return descriptor(WHOLE, key);
  }

  private byte[] descriptor(int segment, long segmentKey) {
    return ByteBuffer.allocate(DESCRIPTOR_LENGTH)
        .putLong(id)
        .putInt(segment)
        .putLong(segmentKey)
        .array();
  }

  @Override
  public GatePage gate() {
    return gate;
  }

  @Override
  public DomainSegment grow(int length) throws IOException {
    WorkRequests.checkLength(length);
    synchronized (network) {
      checkOpen();
      if (length > context.memoryLimit() - memory) {
        throw new IOException("full: memoryLimit=" + context.memoryLimit());
      }
      final SimSegment segment = new SimSegment(segments.size(), allocate(length));
      memory += length;
      segments.add(segment);
      return segment;
    }
  }

  private DirectRegion allocate(int length) throws IOException {
    if (!context.sparse()) {
      return new DirectRegion(length);
    }
    final Path file = Files.createTempFile("ringfetch-sim", "");
    try (FileChannel channel =
        FileChannel.open(
            file,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE,
            StandardOpenOption.DELETE_ON_CLOSE)) {
      return new DirectRegion(channel.map(MapMode.READ_WRITE, 0, length));
    }
  }

  private void checkOpen() throws IOException {
    if (closed || process.isDead()) {
      throw new IOException("closed");
    }
  }

  @Override
  public DomainAdmission admit(byte[] peerHint, byte[] token) throws IOException {
    SimFabric.checkToken(token);
    SimFabric.checkHint(peerHint);
    synchronized (network) {
      checkOpen();
      if (admissions.size() >= context.peerLimit()) {
        throw new IOException("too many peers: peerLimit=" + context.peerLimit());
      }
      final SimAdmission admission = new SimAdmission(HexFormat.of().formatHex(token));
      offered.put(admission.token, admission);
      admissions.add(admission);
      return admission;
    }
  }

  /** Connects a peer. With the lock held. */
  SimRemoteDomain connect(SimFabric peer, byte[] descriptor, byte[] token) throws IOException {
    final ByteBuffer in = ByteBuffer.wrap(descriptor, Long.BYTES, Integer.BYTES + Long.BYTES);
    final boolean right = in.getInt() == WHOLE && in.getLong() == key;
    final SimAdmission admission = right ? offered.remove(HexFormat.of().formatHex(token)) : null;
    if (admission == null) {
      throw new IOException("not admitted");
    }
    admission.remote = new SimRemoteDomain(peer, this);
    return admission.remote;
  }

  /** Returns the domain's number in a descriptor of it or of a segment. */
  static long id(byte[] descriptor) throws IOException {
    if (descriptor.length != DESCRIPTOR_LENGTH) {
      throw new IOException("malformed descriptor: length=" + descriptor.length);
    }
    return ByteBuffer.wrap(descriptor).getLong();
  }

  /** The segment that a descriptor leads to. With the lock held. */
  SimSegment find(byte[] descriptor) throws IOException {
    if (id(descriptor) != id) {
      throw new IOException("of another domain");
    }
    final ByteBuffer in = ByteBuffer.wrap(descriptor, Long.BYTES, Integer.BYTES + Long.BYTES);
    final int number = in.getInt();
    if (number < 0
        || number >= segments.size()
        || segments.get(number).segmentKey != in.getLong()
        || segments.get(number).gone) {
      throw new IOException("no such segment");
    }
    return segments.get(number);
  }

  @Override
  public void close() {
    synchronized (network) {
      if (closed) {
        return;
      }
      closed = true;
      List.copyOf(admissions).forEach(SimAdmission::close);
      stores.drain();
      network.regions().remove(stores);
      network.domains().remove(id);
      process.forget(this);
    }
  }

  /** A segment, of which the owner has a view behind its store buffer. */
  final class SimSegment implements DomainSegment {
    private final int number;
    private final DirectRegion heap;
    private final SimRegion view;
    private final long segmentKey = network.timeline().random().nextLong();
    private boolean gone;

    SimSegment(int number, DirectRegion heap) {
      this.number = number;
      this.heap = heap;
      this.view = stores.beside(heap);
    }

    /** What others reach. */
    DirectRegion heap() {
      return heap;
    }

    /** True after {@link #close}. */
    boolean isGone() {
      return gone;
    }

    @Override
    public int number() {
      return number;
    }

    @Override
    public long length() {
      return heap.length();
    }

    @Override
    public MemoryRegion region() {
      return view;
    }

    @Override
    public byte[] descriptor() {
      return SimDomain.this.descriptor(number, segmentKey);
    }

    @Override
    public void close() {
      synchronized (network) {
        if (!gone && !closed) {
          gone = true;
          memory -= heap.length();
          view.leave();
        }
      }
    }
  }

  private final class SimAdmission implements DomainAdmission {
    private final String token;
    private SimRemoteDomain remote; // null until the peer has connected

    SimAdmission(String token) {
      this.token = token;
    }

    void end() {
      if (remote != null) {
        remote.endLater();
      }
    }

    @Override
    public void close() {
      synchronized (network) {
        if (admissions.remove(this)) {
          offered.remove(token, this);
          end();
        }
      }
    }
  }
}
