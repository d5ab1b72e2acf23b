package dev.ringfetch.benchmarks.stages;

import dev.ringfetch.fabric.ForwardingQueuePair;
import dev.ringfetch.fabric.QueuePair;

/** A queue pair in shared memory that reports each write. */
final class SplitQueuePair extends ForwardingQueuePair {
  private final Runnable written;

  /**
   * Creates it.
   *
   * @param written run when frames are in the ring.
   */
  SplitQueuePair(QueuePair queuePair, Runnable written) {
    super(queuePair);
    this.written = written;
  }

  @Override
  public int write(int offset, int length) {
    final int posted = super.write(offset, length);
    written.run();
    return posted;
  }
}
