package dev.ringfetch.index.layout;

import java.lang.invoke.VarHandle;

/**
 * Reads that an index's gate protects: each batch begins with loads of the gate and of the index's
 * open word, and a reader checks the serving word before its first batch. Used by one thread at a
 * time.
 */
final class GatedReads {
  private final Reads reads;
  private final long epoch;
  private final long openWord;
  private final long incarnation;
  private boolean served;

  /**
   * Creates the reads of an index.
   *
   * @param epoch value of the gate that permits reads
   * @param root address of its root
   * @param incarnation its number, the value of its open word
   */
  GatedReads(Reads reads, long epoch, long root, long incarnation) {
    this.reads = reads;
    this.epoch = epoch;
    openWord = root + RootDescriptor.OPEN_OFFSET;
    this.incarnation = incarnation;
  }

  /** Whether the server of the epoch has begun to serve; it never goes back. */
  boolean isServed() {
    if (!served) {
      reads.begin();
      reads.add(StoreDescriptor.SERVING_OFFSET, Long.BYTES);
      served =
          reads.execute() == Reads.DONE && reads.region(0).getLongAcquire(reads.offset(0)) == epoch;
    }
    return served;
  }

  /** Begins a batch with the reads of the gate and of the open word. */
  void begin() {
    reads.begin();
    reads.add(Reads.GATE, Long.BYTES);
    reads.add(openWord, Long.BYTES);
  }

  /** Executes the batch; {@link Reads#DONE} only if gate and open word permit reads. */
  int execute() {
    final int status = reads.execute();
    return status == Reads.DONE && !isOpen() ? Reads.CLOSED : status;
  }

  /** Checks the words at the begin of the batch: after all earlier loads, before all later ones. */
  private boolean isOpen() {
    VarHandle.acquireFence();
    final long gate = reads.region(0).getLongAcquire(reads.offset(0));
    final long open = reads.region(1).getLongAcquire(reads.offset(1));
    return gate == epoch && open == incarnation;
  }

  /** The result of a read that ends with a status other than {@link Reads#DONE}. */
  static ReadResult result(int status) {
    return switch (status) {
      case Reads.CLOSED -> ReadResult.CLOSED;
      case Reads.LOST -> ReadResult.LOST;
      default -> ReadResult.UNDECIDED;
    };
  }
}
