package dev.ringfetch.index.layout;

import dev.ringfetch.fabric.MemoryRegion;

/**
 * Reads of an ordered index's memory, a piece in each gated batch. Used by one thread at a time.
 */
final class PieceReads {
  private final Reads reads;
  private final GatedReads gated;
  private int piece;
  private ReadResult failure;

  PieceReads(Reads reads, OrderedLocation location) {
    this.reads = reads;
    gated = new GatedReads(reads, location.epoch(), location.root(), location.incarnation());
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
    int status = Reads.CLOSED;
    if (gated.isServed()) {
      gated.begin();
      piece = reads.add(address, length);
      status = gated.execute();
    }
    if (status == Reads.DONE) {
      return true;
    }
    failure = GatedReads.result(status);
    return false;
  }

  /** Memory with the piece that was read last. */
  MemoryRegion region() {
    return reads.region(piece);
  }

  /** Where the piece that was read last begins in its memory. */
  int offset() {
    return reads.offset(piece);
  }

  void verify() {
    reads.verify();
  }
}
