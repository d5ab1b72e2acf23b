package dev.ringfetch.memory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.memory.v1.GrantResponse;
import java.io.IOException;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** An owner's domain to which a client is attached. Safe for use by many threads. */
final class AttachedDomain implements AutoCloseable {
  private final RemoteDomain domain;
  private final ByteString token;
  private final long timeoutNs;
  private final AtomicLong workRequests = new AtomicLong();
  private volatile boolean closed;

  /** Numbers of the segments that are attached. */
  @GuardedBy("this")
  private final Set<Integer> attached = new HashSet<>();

  /** Segments of the reads that are in use; reads that were dropped go by themselves. */
  @GuardedBy("this")
  private final Map<RegionReads, Integer> segments = new WeakHashMap<>();

  @GuardedBy("this")
  private @Nullable MemoryRegion scratch; // of all posted reads; null before the first

  AttachedDomain(RemoteDomain domain, ByteString token, long timeoutNs) {
    this.domain = domain;
    this.token = token;
    this.timeoutNs = timeoutNs;
  }

  /** The token of the attachment. */
  ByteString token() {
    return token;
  }

  /** False after the end of the attachment: what is loaded then is granted no more. */
  boolean isOpen() {
    return !closed && !domain.isRevoked();
  }

  /**
   * Attaches the segment of a name, until {@link #release}.
   *
   * @param length of its memory in bytes.
   * @throws IOException when the segment cannot be reached or has another length.
   */
  synchronized RegionReads reads(GrantResponse grant, int length) throws IOException {
    detachUnused();
    final int segment = domain.attach(grant.getSegment().toByteArray());
    attached.add(segment);
    final RegionReads reads;
    if (domain.capabilities().loadStore()) {
      reads = new MappedReads(domain.view(segment), this::isOpen);
    } else {
      scratch = scratch == null ? domain.scratch(PostedReads.SCRATCH_LENGTH) : scratch;
      reads = new PostedReads(domain, scratch, workRequests, segment, timeoutNs / 2);
    }
    segments.put(reads, segment);
    final long present = domain.length(segment);
    if (present != length) {
      release(reads);
      throw new IOException(
          "segment has another length: length=" + present + " expected=" + length);
    }
    return reads;
  }

  /** Detaches the segment of reads that are used no more, unless others use it. */
  synchronized void release(RegionReads reads) {
    segments.remove(reads);
    detachUnused();
  }

  /** Detaches the segments whose last readers were released or dropped. */
  @GuardedBy("this")
  private void detachUnused() {
    final Set<Integer> unused = new HashSet<>(attached);
    segments.values().forEach(unused::remove);
    unused.forEach(domain::detach);
    attached.removeAll(unused);
  }

  /** Notes the end of the attachment: nothing is granted any more. */
  void end() {
    closed = true;
  }

  @Override
  public void close() {
    closed = true;
    domain.close();
  }
}
