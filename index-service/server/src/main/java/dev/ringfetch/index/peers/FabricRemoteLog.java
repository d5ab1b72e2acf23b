package dev.ringfetch.index.peers;

import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.index.onesided.LogMemoryDescriptor;
import dev.ringfetch.index.onesided.RemoteLog;
import java.io.IOException;

/** The log memory of a member in a segment of its domain. */
abstract class FabricRemoteLog implements RemoteLog {
  private static final int LINE = 64;

  /** The domain, closed with this. */
  final RemoteDomain domain;

  final int segment;

  /** The results of looks: the gate, and the consumed word after it. */
  final MemoryRegion results;

  /** Whether a request has failed, or this was closed. */
  boolean ended;

  private final String fabric;
  private final int length;

  /**
   * Attaches the segment.
   *
   * @throws IOException if it cannot be log memory, or is not reachable
   */
  FabricRemoteLog(String fabric, RemoteDomain domain, byte[] descriptor) throws IOException {
    if (!domain.capabilities().readAfterWrite()) {
      throw new IOException("no READ after WRITE: fabric=" + fabric);
    }
    this.fabric = fabric;
    this.domain = domain;
    segment = domain.attach(descriptor);
    length = ringLength(domain.length(segment));
    results = domain.scratch(LINE);
  }

  private static int ringLength(long segmentLength) throws IOException {
    final long length = segmentLength - LogMemoryDescriptor.RING_OFFSET;
    if (length < LINE || length % LINE != 0) {
      throw new IOException("no log memory: length=" + length);
    }
    if (segmentLength > LogMemoryDescriptor.LENGTH_LIMIT) { // this side would allocate as much
      throw new IOException(
          "the member offers more log memory than a replica has: length="
              + segmentLength
              + " limit="
              + LogMemoryDescriptor.LENGTH_LIMIT);
    }
    return (int) length;
  }

  /** Refuses memory that does not begin as log memory does. */
  final void checkMagic(long magic) throws IOException {
    if (ended || magic != LogMemoryDescriptor.MAGIC) {
      throw new IOException("no log memory: ended=" + ended);
    }
  }

  @Override
  public final String fabric() {
    return fabric;
  }

  @Override
  public final int length() {
    return length;
  }

  @Override
  public final void close() {
    ended = true;
    domain.close();
  }
}
