package dev.ringfetch.index.layout;

import dev.ringfetch.fabric.MemoryRegion;

/**
 * Reads of an ordered or a spatial index's memory: gated batches of one piece or of several. Used
 * by one thread at a time.
 */
final class PieceReads {
  private static final int LINE = 64;

  private final Reads reads;
  private final GatedReads gated;
  private final long incarnation;
  private final long clockAddress;
  private long clock;
  private boolean served;

  /** The sum of the loads of {@link #touch}, kept so that they are not left out. */
  @SuppressWarnings("unused")
  private long touched;

  private int piece;
  private ReadResult failure;

  PieceReads(Reads reads, OrderedLocation location) {
    this(
        reads,
        location.epoch(),
        location.root(),
        location.incarnation(),
        location.root() + TreeDescriptor.CLOCK_OFFSET);
  }

  /** Creates the reads of a spatial index, which has a clock for each partition. */
  PieceReads(Reads reads, HashLocation location) {
    this(reads, location.epoch(), location.root(), location.incarnation(), 0);
  }

  private PieceReads(Reads reads, long epoch, long root, long incarnation, long clockAddress) {
    this.reads = reads;
    this.incarnation = incarnation;
    this.clockAddress = clockAddress;
    gated = new GatedReads(reads, epoch, root, incarnation);
  }

  /** Forgets the failure of an earlier call, and the time of the clock. */
  void begin() {
    failure = null;
    clock = 0;
  }

  /** Time of the clock at its last load in this call; 0 if it was not loaded. */
  long clock() {
    return clock;
  }

  /** Loads the clock of an ordered index; invalidates earlier reads. False if that failed. */
  boolean loadClock() {
    if (!read(clockAddress, Long.BYTES)) {
      return false;
    }
    final long time = ClockDescriptor.time(region().getLongAcquire(offset()), incarnation);
    if (time < 0) { // the memory belongs to another index now
      failure = ReadResult.UNDECIDED;
      return false;
    }
    clock = time;
    return true;
  }

  /** The reason of the failed read; null if none has failed. */
  ReadResult failure() {
    return failure;
  }

  /** Reads a piece of memory; false if that failed. */
  boolean read(long address, int length) {
    beginBatch();
    piece = add(address, length);
    return execute();
  }

  /** Begins a batch of pieces; invalidates earlier reads. */
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

  /**
   * Loads a word of each line of some pieces of mapped memory, so that the processor fetches them
   * together and not one after the other.
   *
   * @param numbers of the pieces; negative ones are none
   * @param bytes of a piece from its begin
   */
  void touch(int[] numbers, int count, int bytes) {
    long sum = 0;
    for (int i = 0; i < count && !arePosted(); i++) {
      final int number = numbers[i];
      if (number >= 0) {
        final MemoryRegion region = reads.region(number);
        final int begin = reads.offset(number) & -Long.BYTES;
        final int end = Math.min(begin + bytes, region.length());
        for (int at = begin; at < end; at += LINE) {
          sum += region.getLong(at);
        }
      }
    }
    touched = sum;
  }

  /** Whether each batch is a round trip over a network, so that pieces are better read together. */
  boolean arePosted() {
    return !reads.ordered();
  }

  /** Memory of the piece that was read on its own. */
  MemoryRegion region() {
    return reads.region(piece);
  }

  /** Offset in that memory of the piece that was read on its own. */
  int offset() {
    return reads.offset(piece);
  }

  /** Memory of a piece of the batch. */
  MemoryRegion region(int number) {
    return reads.region(number);
  }

  /** Offset in its memory of a piece of the batch. */
  int offset(int number) {
    return reads.offset(number);
  }

  /** Number of the piece that was read on its own. */
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
