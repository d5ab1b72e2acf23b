package dev.ringfetch.index.peers;

import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.index.onesided.LogMemoryDescriptor;
import java.io.IOException;

/** The log memory of a member in mapped memory: requests complete at once. */
final class MappedRemoteLog extends FabricRemoteLog {
  private static final int STAGING_LENGTH = 64 << 10;

  private final MemoryRegion staging;

  private MappedRemoteLog(String fabric, RemoteDomain domain, byte[] descriptor)
      throws IOException {
    super(fabric, domain, descriptor);
    staging = domain.scratch(STAGING_LENGTH);
  }

  /**
   * Connects to the memory.
   *
   * @throws IOException if it is not log memory
   */
  static MappedRemoteLog attach(String fabric, RemoteDomain domain, byte[] descriptor)
      throws IOException {
    final MappedRemoteLog log = new MappedRemoteLog(fabric, domain, descriptor);
    log.checkMagic(log.read(log.segment, LogMemoryDescriptor.MAGIC_OFFSET, 0));
    return log;
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
  public void look(boolean room) {
    read(RemoteDomain.GATE, GateDescriptor.WORD_OFFSET, 0);
    if (room) {
      read(segment, LogMemoryDescriptor.CONSUMED_OFFSET, Long.BYTES);
    }
    ended |= domain.isRevoked(); // loads count only if it was not revoked
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
}
