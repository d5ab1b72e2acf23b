package dev.ringfetch.index.direct;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.fabric.MemoryFaults;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.index.layout.EntrySink;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.HashLocation;
import dev.ringfetch.index.layout.HashReader;
import dev.ringfetch.index.layout.MemberGates;
import dev.ringfetch.index.layout.OrderedLocation;
import dev.ringfetch.index.layout.OrderedReader;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.Reads;
import dev.ringfetch.index.layout.RootDescriptor;
import dev.ringfetch.index.layout.ScanCursor;
import dev.ringfetch.index.layout.SegmentReads;
import dev.ringfetch.index.layout.SpatialReader;
import dev.ringfetch.index.layout.SpatialSearch;
import dev.ringfetch.index.layout.StoreDescriptor;
import dev.ringfetch.index.v1.GrantResponse;
import dev.ringfetch.index.v1.IndexKind;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/**
 * The memory of an index under a grant, with a reader of it.
 *
 * <p>Used by one thread at a time.
 */
final class GrantedIndex implements AutoCloseable {
  /** The kinds of index that can be read directly. */
  static final List<IndexKind> KINDS =
      List.of(IndexKind.HASH, IndexKind.ORDERED, IndexKind.SPATIAL);

  private static final int MIN_SHIFT = 16;
  private static final int MAX_SHIFT = 30;

  private final ByteString token;
  private final ByteString address;
  private final RemoteDomain domain;
  private final GrantedGates gates; // null if the index is not replicated
  private final long groupEpoch;
  private final String leader; // address; null if the index is not replicated
  private final long epoch;
  private final long incarnation;
  private final boolean outlivesServer;
  private final Reads reads;
  private final PostedReads posted; // null if memory is mapped
  private final MemberGates verified; // checked by each verify; null if checked here
  private final HashReader hash; // null if the index is ordered
  private final SpatialReader spatial; // the same one if the index is spatial, else null
  private final OrderedReader ordered; // null if it is a hash index
  private int[] numbers = {}; // of the segments in the domain
  private MemoryRegion[] segments = {}; // if they are mapped
  private boolean lacksSegment;

  private GrantedIndex(GrantResponse grant, RemoteDomain domain, GrantedGates gates, Limits limits)
      throws IOException {
    this.gates = gates;
    this.groupEpoch = grant.getGroupEpoch();
    this.leader = leader(grant);
    this.token = grant.getToken();
    this.address = grant.getDomain();
    this.domain = domain;
    this.epoch = grant.getEpoch();
    this.incarnation = grant.getIncarnation();
    this.outlivesServer = grant.getOutlivesServer();
    learn(grant);
    final int shift = grant.getSegmentShift();
    verified = gates != null && domain.capabilities().loadStore() ? gates.mapped() : null;
    posted =
        domain.capabilities().loadStore()
            ? null
            : new PostedReads(domain, this::attached, shift, limits.roundTripNs);
    reads =
        posted != null
            ? posted
            : new SegmentReads(
                this::segment,
                shift,
                domain.view(RemoteDomain.GATE),
                GateDescriptor.WORD_OFFSET,
                verified);
    if (grant.getKind() == IndexKind.ORDERED) {
      hash = null;
      spatial = null;
      ordered = new OrderedReader(reads, orderedLocation(grant), limits.cachedNodes);
    } else {
      ordered = null;
      spatial =
          grant.getKind() == IndexKind.SPATIAL
              ? new SpatialReader(reads, hashLocation(grant), limits.cachedNodes)
              : null;
      hash = spatial != null ? spatial : new HashReader(reads, hashLocation(grant));
    }
  }

  private static HashLocation hashLocation(GrantResponse grant) {
    return new HashLocation(
        grant.getEpoch(),
        grant.getRoot(),
        grant.getNumber(),
        grant.getSeed(),
        grant.getPartitions());
  }

  private static OrderedLocation orderedLocation(GrantResponse grant) {
    return new OrderedLocation(grant.getEpoch(), grant.getRoot(), grant.getNumber());
  }

  /**
   * The limits of the reads of a grant.
   *
   * @param connectNs how long it may take to connect, in nanoseconds.
   * @param roundTripNs how long one round trip of a read may take, in nanoseconds.
   * @param cachedNodes inner nodes of an ordered or spatial index that are remembered at most.
   */
  record Limits(long connectNs, long roundTripNs, int cachedNodes) {}

  /**
   * Connects to the memory of a grant.
   *
   * @param gates of the members, closed with this; null if the index is not replicated
   * @throws IOException when the memory cannot be reached or read, with the reason as its message.
   */
  static GrantedIndex connect(Fabric fabric, GrantResponse grant, GrantedGates gates, Limits limits)
      throws IOException {
    check(grant);
    final RemoteDomain domain =
        fabric.connectDomain(
            grant.getDomain().toByteArray(), grant.getToken().toByteArray(), limits.connectNs);
    boolean connected = false;
    try {
      final GrantedIndex index = new GrantedIndex(grant, domain, gates, limits);
      connected = true;
      return index;
    } finally {
      if (!connected) {
        domain.close();
      }
    }
  }

  private static void check(GrantResponse grant) throws IOException {
    if (grant.getLayoutVersion() != StoreDescriptor.LAYOUT_VERSION) {
      throw new IOException("layout is unknown: version=" + grant.getLayoutVersion());
    }
    if (!KINDS.contains(grant.getKind()) && grant.getKind() != IndexKind.INDEX_KIND_UNSPECIFIED) {
      throw new IOException("kind is unknown: kind=" + grant.getKind());
    }
    final int partitions = grant.getPartitions();
    final int shift = grant.getSegmentShift();
    if (Integer.bitCount(partitions) != 1
        || partitions < 1
        || partitions > RootDescriptor.MAX_PARTITIONS
        || shift < MIN_SHIFT
        || shift > MAX_SHIFT
        || grant.getEpoch() <= 0) {
      throw new IOException(
          "grant is malformed: partitions="
              + partitions
              + " segment shift="
              + shift
              + " epoch="
              + grant.getEpoch());
    }
  }

  /**
   * Address of the node that has granted a replicated index; null if the index is not replicated.
   */
  static String leader(GrantResponse grant) {
    return grant.getMembersCount() == 0 ? null : grant.getMembers(0).getAddress();
  }

  /** Same, for this grant. */
  String leader() {
    return leader;
  }

  /** The token that releases the grant. */
  ByteString token() {
    return token;
  }

  /** Descriptor of the connected domain. */
  ByteString domain() {
    return address;
  }

  /** The index's incarnation, as in answers. */
  long incarnation() {
    return incarnation;
  }

  /** Whether the memory outlives a killed server, until a successor closes it. */
  boolean outlivesServer() {
    return outlivesServer;
  }

  /** Whether a newer grant is for the same index in the same domain. */
  boolean isOf(GrantResponse grant) {
    return grant.getDomain().equals(address)
        && grant.getIncarnation() == incarnation
        && grant.getGroupEpoch() == groupEpoch;
  }

  /** Attaches the segments of a grant that are not attached yet. */
  void learn(GrantResponse grant) throws IOException {
    final List<ByteString> descriptors = grant.getSegmentsList();
    final boolean mapped = domain.capabilities().loadStore();
    for (int i = numbers.length; i < descriptors.size(); i++) {
      final int number = domain.attach(descriptors.get(i).toByteArray());
      if (domain.length(number) != 1L << grant.getSegmentShift()) {
        throw new IOException("segment has another length: length=" + domain.length(number));
      }
      if (mapped) {
        segments = Arrays.copyOf(segments, i + 1);
        segments[i] = domain.view(number);
      }
      numbers = Arrays.copyOf(numbers, i + 1);
      numbers[i] = number;
    }
    lacksSegment = false;
  }

  private int attached(long number) {
    if (number >= 0 && number < numbers.length) {
      return numbers[(int) number];
    }
    lacksSegment = true;
    return -1;
  }

  private MemoryRegion segment(long number) {
    if (number >= 0 && number < segments.length) {
      return segments[(int) number];
    }
    lacksSegment = true;
    return null;
  }

  /** Whether a read since the last {@link #learn} needed a segment that is not attached. */
  boolean lacksSegment() {
    return lacksSegment;
  }

  /**
   * Whether repeating an undecided read may decide it: absent keys of a hash index need ordered
   * loads.
   */
  boolean mayDecide() {
    return ordered != null || reads.ordered();
  }

  /** Whether the index is ordered. */
  boolean isOrdered() {
    return ordered != null;
  }

  /** Whether the index is spatial. */
  boolean isSpatial() {
    return spatial != null;
  }

  /** Sets the deadline of the next read, which leaves time for a call. */
  void until(long deadlineNs) {
    if (posted != null) {
      posted.until(deadlineNs);
    }
    if (verified == null && gates != null) {
      gates.until(deadlineNs);
    }
  }

  /** Reads a key. */
  ReadResult get(ByteString key, Found found) {
    begin();
    try {
      return granted(hash != null ? hash.get(key, found) : ordered.get(key, found));
    } catch (InternalError e) {
      reads.absorb(e);
      return ReadResult.LOST;
    }
  }

  /**
   * Continues a scan, as {@link OrderedReader#scan} does. Each entry was read under the grant if
   * the sink checks {@link #isGranted} before it accepts one.
   */
  ReadResult scan(ScanCursor cursor, EntrySink sink) {
    return read(() -> ordered.scan(cursor, sink));
  }

  /** Continues a search, as {@link SpatialReader#search} does; otherwise as {@link #scan}. */
  ReadResult search(SpatialSearch search, EntrySink sink) {
    return read(() -> spatial.search(search, sink));
  }

  private ReadResult read(Supplier<ReadResult> entries) {
    begin();
    if (gates != null && !gates.areOpen()) { // first: absent keys cause no look
      return ReadResult.CLOSED;
    }
    try {
      return granted(entries.get());
    } catch (InternalError e) {
      reads.absorb(e);
      return ReadResult.LOST;
    }
  }

  /**
   * Whether the grant lasts, and the members of a replicated index obey its epoch: if so, earlier
   * loads count.
   */
  boolean isGranted() {
    return !domain.isRevoked() && (gates == null || areOpen());
  }

  private void begin() {
    if (verified != null) {
      verified.begin();
    } else if (gates != null) {
      gates.begin();
    }
  }

  /**
   * Whether the gates are open. Mapped memory was verified after the loads, and mapped gates were
   * checked then.
   */
  private boolean areOpen() {
    return verified == null ? gates.areOpen() : gates.wereOpen();
  }

  /** The reason why the members' gates refuse reads; null if unknown. */
  String obstacle() {
    return gates == null ? null : gates.obstacle();
  }

  /** Reads several keys, each on its own. */
  void batchGet(List<ByteString> keys, Found[] found, ReadResult[] results) {
    ReadResult all = null;
    begin();
    try {
      if (hash != null) {
        hash.batchGet(keys, found, results);
      } else {
        ordered.batchGet(keys, found, results);
      }
      if (granted(ReadResult.FOUND) == ReadResult.CLOSED) {
        all = ReadResult.CLOSED;
      }
    } catch (InternalError e) {
      reads.absorb(e);
      all = ReadResult.LOST;
    }
    if (all != null) {
      Arrays.fill(results, 0, keys.size(), all);
    }
  }

  /**
   * Whether the gate names a successor of the server; an orderly stop closes it without naming one.
   */
  boolean hasSuccessor() {
    if (gates != null) {
      return true; // another leader, or the same one in another epoch
    }
    if (posted != null) {
      return false; // memory ends with the server
    }
    final MemoryRegion gate = domain.view(RemoteDomain.GATE);
    try {
      final long word = gate.getLongAcquire(GateDescriptor.WORD_OFFSET);
      gate.verify();
      return word > 0 && word != epoch;
    } catch (InternalError e) {
      MemoryFaults.absorb(gate, e);
      return false;
    }
  }

  /** The result, if admission and gates still allow the loads before this check. */
  private ReadResult granted(ReadResult result) {
    return isGranted() ? result : ReadResult.CLOSED;
  }

  @Override
  public void close() {
    domain.close();
    if (gates != null) {
      gates.close();
    }
  }
}
