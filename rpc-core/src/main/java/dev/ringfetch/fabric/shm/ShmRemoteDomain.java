package dev.ringfetch.fabric.shm;

import dev.ringfetch.fabric.CompletionQueue;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.FabricCapabilities;
import dev.ringfetch.fabric.MappedRegion;
import dev.ringfetch.fabric.MemoryFaults;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.fabric.Rights;
import dev.ringfetch.fabric.WorkRequests;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * The domain of a peer on shm: its segments are mapped files, and a work request is done, and
 * complete, when it was posted.
 *
 * <p>Atomics on memory that was truncated may kill the JVM (see {@link MappedRegion}); the owner
 * does not truncate memory for which it grants them.
 */
final class ShmRemoteDomain implements RemoteDomain {
  private static final MappedRegion[] NONE = {};
  private static final int CHUNK_LENGTH = 4096;

  private final ShmFabric fabric;
  private final DomainAddress address;
  private final Path directory;
  private final Rights rights;
  private final MemoryRegion gate;
  private final AdmissionFile.MappedAdmission admission;
  private final ShmCompletions completions = new ShmCompletions();

  /** By number, with gaps. Replaced with the monitor held. */
  private volatile MappedRegion[] segments = NONE;

  private volatile boolean ended;

  // Owned by the thread that posts.
  private final byte[] chunk = new byte[CHUNK_LENGTH];
  private boolean isWritten; // since the last fence

  private ShmRemoteDomain(
      ShmFabric fabric,
      DomainAddress address,
      DomainRecord record,
      MemoryRegion gate,
      AdmissionFile.MappedAdmission admission) {
    this.fabric = fabric;
    this.address = address;
    this.directory = fabric.directory(address);
    this.rights = record.rights();
    this.gate = gate;
    this.admission = admission;
  }

  /** Connects; the token is used up last, when everything else is there. */
  static ShmRemoteDomain connect(ShmFabric fabric, DomainAddress address, byte[] token)
      throws IOException {
    final Path directory = fabric.directory(address);
    final DomainRecord record = record(fabric, address, directory);
    final MemoryRegion gate = record.openGate(address, directory).region();
    final AdmissionFile.MappedAdmission admission =
        AdmissionFile.take(address, directory, token, fabric.ownership());
    return new ShmRemoteDomain(fabric, address, record, gate, admission);
  }

  private static DomainRecord record(ShmFabric fabric, DomainAddress address, Path directory)
      throws IOException {
    if (address.segment() != DomainAddress.WHOLE || address.length() != DomainRecord.LENGTH) {
      throw new IOException("not a domain: segment=" + address.segment());
    }
    final Path file = address.record(directory);
    try {
      fabric.checkPeer(directory);
      try (FileChannel channel =
          SessionFile.open(file, address.length(), address.nonce(), fabric.ownership())) {
        return DomainRecord.read(channel);
      }
    } catch (NoSuchFileException e) {
      throw new IOException("the domain is closed: there is no " + file, e);
    }
  }

  @Override
  public FabricCapabilities capabilities() {
    return ShmFabric.CAPABILITIES;
  }

  @Override
  public Rights rights() {
    return rights;
  }

  @Override
  public int attach(byte[] segmentDescriptor) throws IOException {
    final DomainAddress segment = DomainAddress.decode(segmentDescriptor);
    if (!segment.isSegmentOf(address)) {
      throw new IOException("not a segment of this domain");
    }
    if (isRevoked()) {
      throw new IOException("the admission has ended");
    }
    final Path file = segment.file(directory);
    final MapMode mode = rights.include(Rights.WRITE) ? MapMode.READ_WRITE : MapMode.READ_ONLY;
    try (FileChannel channel =
        SessionFile.open(file, segment.length(), segment.nonce(), fabric.ownership())) {
      if (find(segment.segment()) == null) {
        put(segment.segment(), SessionFile.map(channel, segment.length(), mode));
      }
    } catch (NoSuchFileException e) {
      throw new IOException("the segment is closed: there is no " + file, e);
    }
    return segment.segment();
  }

  @Override
  public void detach(int segment) {
    if (find(segment) != null) {
      put(segment, null);
    }
  }

  private MappedRegion find(int segment) {
    final MappedRegion[] attached = segments;
    return segment >= 0 && segment < attached.length ? attached[segment] : null;
  }

  private synchronized void put(int segment, MappedRegion region) {
    if (ended) {
      return;
    }
    final MappedRegion[] grown = Arrays.copyOf(segments, Math.max(segments.length, segment + 1));
    grown[segment] = region;
    segments = grown;
  }

  @Override
  public MemoryRegion view(int segment) {
    return segment == GATE ? gate : attached(segment);
  }

  private MappedRegion attached(int segment) {
    final MappedRegion region = find(segment);
    if (region == null) {
      throw new IllegalArgumentException("not attached: segment=" + segment);
    }
    return region;
  }

  @Override
  public MemoryRegion scratch(int length) throws IOException {
    WorkRequests.checkLength(length);
    if (isRevoked()) {
      throw new IOException("the admission has ended");
    }
    return new DirectRegion(length);
  }

  @Override
  public int read(
      int segment,
      long offset,
      MemoryRegion local,
      int localOffset,
      int length,
      long workRequestId) {
    final MemoryRegion region = view(segment);
    WorkRequests.checkTransfer(offset, region.length(), local, localOffset, length);
    final int refusal = refusal(workRequestId);
    if (refusal != QueuePair.POSTED) {
      return refusal;
    }
    if (isWritten) { // no load passes a store that was posted before it
      isWritten = false;
      region.fullFence();
    }
    complete(workRequestId, copy(region, (int) offset, local, localOffset, length, region), length);
    return QueuePair.POSTED;
  }

  @Override
  public int write(
      int segment,
      long offset,
      MemoryRegion local,
      int localOffset,
      int length,
      long workRequestId) {
    WorkRequests.checkRights(rights, Rights.WRITE);
    final MappedRegion region = attached(segment);
    WorkRequests.checkTransfer(offset, region.length(), local, localOffset, length);
    final int refusal = refusal(workRequestId);
    if (refusal != QueuePair.POSTED) {
      return refusal;
    }
    isWritten = true;
    complete(workRequestId, copy(local, localOffset, region, (int) offset, length, region), length);
    return QueuePair.POSTED;
  }

  /** Copies, and returns the status: memory that is gone ends the connection, as a card's error. */
  private int copy(
      MemoryRegion source,
      int sourceOffset,
      MemoryRegion destination,
      int destinationOffset,
      int length,
      MemoryRegion shared) {
    try {
      copyUnverified(source, sourceOffset, destination, destinationOffset, length);
      shared.verify();
      return QueuePair.SUCCESS;
    } catch (InternalError e) {
      MemoryFaults.absorb(shared, e);
      ended = true;
      return QueuePair.FLUSHED;
    }
  }

  /**
   * From the lowest address up: words whole and each in order where both sides are aligned, bytes
   * in any order within a chunk elsewhere.
   */
  private void copyUnverified(
      MemoryRegion source, int sourceOffset, MemoryRegion destination, int offset, int length) {
    int done = 0;
    if (((sourceOffset | offset) & (Long.BYTES - 1)) == 0) {
      for (; done <= length - Long.BYTES; done += Long.BYTES) {
        destination.putLongRelease(offset + done, source.getLongAcquire(sourceOffset + done));
      }
    }
    while (done < length) {
      final int step = Math.min(length - done, CHUNK_LENGTH);
      source.getBytes(sourceOffset + done, chunk, 0, step);
      destination.putBytes(offset + done, chunk, 0, step);
      done += step;
      destination.fullFence(); // neither does a later request pass these bytes
    }
  }

  @Override
  public int compareAndSwap(
      int segment, long offset, long expected, long desired, long workRequestId) {
    final MappedRegion region = word(segment, offset);
    final int refusal = refusal(workRequestId);
    if (refusal == QueuePair.POSTED) {
      final long former = region.compareAndExchangeLong((int) offset, expected, desired);
      complete(workRequestId, QueuePair.SUCCESS, former);
    }
    return refusal;
  }

  @Override
  public int fetchAndAdd(int segment, long offset, long delta, long workRequestId) {
    final MappedRegion region = word(segment, offset);
    final int refusal = refusal(workRequestId);
    if (refusal == QueuePair.POSTED) {
      complete(workRequestId, QueuePair.SUCCESS, region.getAndAddLong((int) offset, delta));
    }
    return refusal;
  }

  private MappedRegion word(int segment, long offset) {
    WorkRequests.checkRights(rights, Rights.ATOMIC);
    final MappedRegion region = attached(segment);
    WorkRequests.checkWord(offset, region.length());
    return region;
  }

  private int refusal(long workRequestId) {
    if (isRevoked()) {
      return QueuePair.CLOSED;
    }
    return workRequestId != QueuePair.UNSIGNALED && completions.isFull()
        ? QueuePair.SEND_QUEUE_FULL
        : QueuePair.POSTED;
  }

  private void complete(long workRequestId, int status, long value) {
    if (workRequestId != QueuePair.UNSIGNALED) {
      completions.add(workRequestId, status, status == QueuePair.SUCCESS ? value : 0);
    }
  }

  @Override
  public void cork() {} // nothing waits

  @Override
  public void uncork() {}

  @Override
  public CompletionQueue completions() {
    return completions;
  }

  @Override
  public boolean isRevoked() {
    if (!ended && admission.isOpen()) {
      return false;
    }
    ended = true; // a revoked admission stays so
    return true;
  }

  @Override
  public void close() {
    ended = true;
    synchronized (this) {
      segments = NONE;
    }
    fabric.forget(this);
  }

  @Override
  public String toString() {
    return "ShmRemoteDomain[" + address.process() + "/" + address.domain() + "]";
  }
}
