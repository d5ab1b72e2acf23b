package dev.ringfetch.memory;

import dev.ringfetch.fabric.CompletionQueue;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RemoteDomain;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Reads of memory that cannot be mapped: each call is a READ, and takes a round trip. A READ that
 * takes longer than the limit ends the connection, so that a late one overwrites no later result.
 */
final class PostedReads implements RegionReads {
  /** Length of the scratch: what one READ reads at the most. */
  static final int SCRATCH_LENGTH = 16 << 10;

  private static final int SPINS = 1000;

  private final RemoteDomain domain;
  private final int segment;
  private final long limitNs;
  private final MemoryRegion scratch;
  private final AtomicLong ids;
  private final CompletionQueue.Handler handler = this::onCompletion;
  private long posted; // id of the last READ
  private long completed;
  private int status;

  /**
   * Creates reads.
   *
   * @param domain whose requests and completions belong to the holder of its monitor.
   * @param scratch of the domain, which belongs to the holder of its monitor, too.
   * @param ids of all work requests of the domain: each READ takes the next.
   * @param limitNs how long a READ may take, in nanoseconds.
   */
  PostedReads(
      RemoteDomain domain, MemoryRegion scratch, AtomicLong ids, int segment, long limitNs) {
    this.domain = domain;
    this.segment = segment;
    this.limitNs = limitNs;
    this.scratch = scratch;
    this.ids = ids;
  }

  @Override
  public long load(int offset) throws LostMemoryException {
    synchronized (domain) {
      read(offset, Long.BYTES);
      return scratch.getLong(0);
    }
  }

  @Override
  public void copy(int offset, int length, byte[] target) throws LostMemoryException {
    int done = 0;
    while (done < length) {
      final int step = Math.min(SCRATCH_LENGTH, length - done);
      synchronized (domain) {
        read(offset + done, step);
        scratch.getBytes(0, target, done, step);
      }
      done += step;
    }
  }

  @SuppressWarnings("ThreadPriorityCheck") // a long round trip yields the processor
  private void read(int offset, int length) throws LostMemoryException {
    posted = ids.incrementAndGet();
    if (domain.read(segment, offset, scratch, 0, length, posted) != QueuePair.POSTED) {
      throw new LostMemoryException();
    }
    final long startNs = System.nanoTime();
    for (int spins = 0; completed != posted; spins++) {
      if (domain.completions().poll(handler, 1) > 0) {
        continue;
      }
      if (spins < SPINS) {
        Thread.onSpinWait();
      } else if (System.nanoTime() - startNs < limitNs) {
        Thread.yield();
      } else {
        domain.close();
        throw new LostMemoryException();
      }
    }
    if (status != QueuePair.SUCCESS) {
      throw new LostMemoryException();
    }
  }

  private void onCompletion(long workRequestId, int completion, long value) {
    completed = workRequestId;
    status = completion;
  }

  @Override
  public boolean isMapped() {
    return false;
  }

  @Override
  public void verify() throws LostMemoryException {
    if (domain.isRevoked()) {
      throw new LostMemoryException();
    }
  }
}
