package dev.ringfetch.index.store;

import dev.ringfetch.index.layout.Reads;

/**
 * Reads that count batches, which are round trips over a fabric that maps no memory, and their
 * READs, and how long all of them would take one after the other at the published rates of a card.
 */
final class CountedReads extends ForwardingReads {
  /** Of a ConnectX-3: a READ of one line, and READs that it serves. */
  static final double ROUND_TRIP_US = 1.8;

  private static final double READS_PER_US = 11.26;

  /** Of its port, of 40 Gb/s. */
  private static final double BYTES_PER_US = 5000;

  private long batches;
  private long reads;
  private long bytes;

  CountedReads(Reads memory) {
    super(memory);
  }

  void reset() {
    batches = 0;
    reads = 0;
    bytes = 0;
  }

  double batches() {
    return batches;
  }

  double reads() {
    return reads;
  }

  /** Time of all. */
  double us() {
    return batches * ROUND_TRIP_US + Math.max(reads / READS_PER_US, bytes / BYTES_PER_US);
  }

  @Override
  public int add(long address, int length) {
    reads++;
    bytes += length;
    return super.add(address, length);
  }

  @Override
  public int execute() {
    batches++;
    return super.execute();
  }

  @Override
  public boolean ordered() {
    return false;
  }
}
