package dev.ringfetch.index.layout;

import dev.ringfetch.fabric.MemoryRegion;

/**
 * Reads of an ordered index's memory: gated batches of one piece or of several. Used by one thread
 * at a time.
 */
final class PieceReads {
  private final Reads reads;
  private final GatedReads gated;
  private final long clockAddress;
  private final long incarnation;
  private long clock;
  private boolean served;
  private int piece;
  private ReadResult failure;

  PieceReads(Reads reads, OrderedLocation location) {
    this.reads = reads;
    incarnation = location.incarnation();
    clockAddress = location.root() + TreeDescriptor.CLOCK_OFFSET;
    gated = new GatedReads(reads, location.epoch(), location.root(), location.incarnation());
  }

  /** Forgets the failure of an earlier call, and what the clock was. */
  void begin() {
    failure = null;
    clock = 0;
  }

  /** What the clock was when it was loaded last in this call; 0 if it was not. */
  long clock() {
    return clock;
  }

  /** Loads the clock. What was read before is no longer valid. False if that failed. */
  boolean loadClock() {
    if (!read(clockAddress, Long.BYTES)) {
      return false;
    }
    final long time = ClockDescriptor.time(region().getLongAcquire(offset()), incarnation);
    if (time < 0) { // the root's memory has another index by now
      failure = ReadResult.UNDECIDED;
      return false;
    }
    clock = time;
    return true;
  }

  /** Why a read failed that returned false; null if none has. */
  ReadResult failure() {
    return failure;
  }

  /** Reads a piece of memory; false if that failed. */
  boolean read(long address, int length) {
    beginBatch();
    piece = add(address, length);
    return execute();
  }

  /** Begins a batch of pieces. What was read before is no longer valid. */
  void beginBatch() {
    served = gated.isServed();
    gated.begin();
  }

  /** Plans to read a piece; returns its number. */
  int add(long address, int length) {
    return reads.add(address, length);
  }

  /** Reads the pieces of the batch; false if that failed. */
  boolean execute() {
    final int status = served ? gated.execute() : Reads.CLOSED;
    if (status == Reads.DONE) {
      return true;
    }
    failure = GatedReads.result(status);
    return false;
  }

  /** Whether each batch is a way over a network, so that pieces are better read together. */
  boolean arePosted() {
    return !reads.ordered();
  }

  /** Memory with the piece that was read on its own. */
  MemoryRegion region() {
    return reads.region(piece);
  }

  /** Where the piece that was read on its own begins in its memory. */
  int offset() {
    return reads.offset(piece);
  }

  /** Memory with a piece of the batch. */
  MemoryRegion region(int number) {
    return reads.region(number);
  }

  /** Where a piece of the batch begins in its memory. */
  int offset(int number) {
    return reads.offset(number);
  }

  /** The piece that was read on its own. */
  int last() {
    return piece;
  }

  void verify() {
    reads.verify();
  }

  void absorb(InternalError fault) {
    reads.absorb(fault);
  }
}
