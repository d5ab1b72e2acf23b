package dev.ringfetch.index.peers;

import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.index.replication.LogMemoryDescriptor;
import dev.ringfetch.index.replication.RemoteLog;
import java.io.IOException;

/** The log memory of a member in a domain whose requests are done when they were made. */
final class MappedRemoteLog implements RemoteLog {
  private static final int STAGING_LENGTH = 64 << 10;
  private static final int LINE = 64;

  private final String fabric;
  private final RemoteDomain domain;
  private final int segment;
  private final int length;
  private final MemoryRegion staging;
  private final MemoryRegion results;
  private boolean ended;

  private MappedRemoteLog(String fabric, RemoteDomain domain, int segment, int length)
      throws IOException {
    this.fabric = fabric;
    this.domain = domain;
    this.segment = segment;
    this.length = length;
    staging = domain.scratch(STAGING_LENGTH);
    results = domain.scratch(LINE);
  }

  /**
   * Reaches the memory.
   *
   * @throws IOException if it is no log memory
   */
  static MappedRemoteLog attach(String fabric, RemoteDomain domain, byte[] descriptor)
      throws IOException {
    if (!domain.capabilities().readAfterWrite()) {
      throw new IOException("no READ after WRITE: fabric=" + fabric);
    }
    final int segment = domain.attach(descriptor);
    final MappedRemoteLog log =
        new MappedRemoteLog(fabric, domain, segment, ringLength(domain, segment));
    if (log.read(segment, LogMemoryDescriptor.MAGIC_OFFSET, 0) != LogMemoryDescriptor.MAGIC) {
      throw new IOException("no log memory: ended=" + log.hasEnded());
    }
    return log;
  }

  /**
   * Length of the ring in a segment.
   *
   * @throws IOException if it cannot be one
   */
  static int ringLength(RemoteDomain domain, int segment) throws IOException {
    final long length = domain.length(segment) - LogMemoryDescriptor.RING_OFFSET;
    if (length < LINE || length > Integer.MAX_VALUE || length % LINE != 0) {
      throw new IOException("no log memory: length=" + length);
    }
    return (int) length;
  }

  @Override
  public String fabric() {
    return fabric;
  }

  @Override
  public int length() {
    return length;
  }

  @Override
  public void begin(long position) {
    staging.putLong(0, position);
    post(LogMemoryDescriptor.BEGIN_OFFSET, Long.BYTES);
  }

  @Override
  public boolean mayWrite() {
    return true;
  }

  @Override
  public void write(int offset, byte[] bytes, int start, int count) {
    int done = 0;
    while (done < count) {
      final int step = Math.min(count - done, STAGING_LENGTH);
      staging.putBytes(0, bytes, start + done, step);
      post(LogMemoryDescriptor.RING_OFFSET + offset + done, step);
      done += step;
    }
  }

  @Override
  public void publish(long end, long commit) {
    staging.putLong(0, commit);
    staging.putLong(Long.BYTES, end);
    post(LogMemoryDescriptor.COMMIT_OFFSET, 2 * Long.BYTES);
  }

  private void post(int offset, int count) {
    ended |=
        domain.write(segment, offset, staging, 0, count, QueuePair.UNSIGNALED) != QueuePair.POSTED;
  }

  @Override
  public void look() {
    read(RemoteDomain.GATE, GateDescriptor.WORD_OFFSET, 0);
    read(segment, LogMemoryDescriptor.CONSUMED_OFFSET, Long.BYTES);
    ended |= domain.isRevoked(); // what was loaded counts if it was not
  }

  private long read(int from, int offset, int to) {
    ended |=
        domain.read(from, offset, results, to, Long.BYTES, QueuePair.UNSIGNALED)
            != QueuePair.POSTED;
    return results.getLong(to);
  }

  @Override
  public boolean isLooking() {
    return false;
  }

  @Override
  public long gate() {
    return results.getLong(0);
  }

  @Override
  public long consumed() {
    return results.getLong(Long.BYTES);
  }

  @Override
  public boolean hasEnded() {
    return ended;
  }

  @Override
  public void close() {
    ended = true;
    domain.close();
  }
}
