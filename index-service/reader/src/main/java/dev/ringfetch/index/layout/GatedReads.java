package dev.ringfetch.index.layout;

import dev.ringfetch.fabric.MemoryRegion;
import java.lang.invoke.VarHandle;

/**
 * Reads of an index's memory that look at the gate and at the index's open word before each other
 * load; the first one is preceded by a look at the serving word. Used by one thread at a time.
 */
final class GatedReads {
  private static final int FIRST = 2; // behind the gate and the open word

  private final Reads reads;
  private final OrderedLocation location;
  private boolean served;
  private ReadResult failure;

  GatedReads(Reads reads, OrderedLocation location) {
    this.reads = reads;
    this.location = location;
  }

  /** Forgets the failure of an earlier call. */
  void begin() {
    failure = null;
  }

  /** Why a read failed that returned false; null if none has. */
  ReadResult failure() {
    return failure;
  }

  /** Reads a piece of memory; false if that failed. */
  boolean read(long address, int length) {
    if (!served && !isServed()) {
      failure = ReadResult.CLOSED;
      return false;
    }
    reads.begin();
    reads.add(Reads.GATE, Long.BYTES);
    reads.add(location.root() + TreeDescriptor.OPEN_OFFSET, Long.BYTES);
    reads.add(address, length);
    final int status = reads.execute();
    if (status == Reads.DONE && isOpen()) {
      return true;
    }
    failure =
        switch (status) {
          case Reads.DONE, Reads.CLOSED -> ReadResult.CLOSED;
          case Reads.LOST -> ReadResult.LOST;
          default -> ReadResult.UNDECIDED;
        };
    return false;
  }

  /** Looks at the words that the batch began with: after all earlier loads, before all later. */
  private boolean isOpen() {
    VarHandle.acquireFence();
    final long gate = reads.region(0).getLongAcquire(reads.offset(0));
    final long open = reads.region(1).getLongAcquire(reads.offset(1));
    return gate == location.epoch() && open == location.incarnation();
  }

  private boolean isServed() {
    reads.begin();
    reads.add(StoreDescriptor.SERVING_OFFSET, Long.BYTES);
    served =
        reads.execute() == Reads.DONE
            && reads.region(0).getLongAcquire(reads.offset(0)) == location.epoch();
    return served;
  }

  /** Memory with the piece that was read last. */
  MemoryRegion region() {
    return reads.region(FIRST);
  }

  /** Where the piece that was read last begins in its memory. */
  int offset() {
    return reads.offset(FIRST);
  }

  void verify() {
    reads.verify();
  }
}
