package dev.ringfetch.session.unit;

import static dev.ringfetch.ring.FrameDescriptor.BULK;
import static dev.ringfetch.ring.FrameDescriptor.CLOSE;
import static dev.ringfetch.ring.FrameDescriptor.CONTINUATION;
import static dev.ringfetch.ring.FrameDescriptor.PARTIAL;

import dev.ringfetch.fabric.MemoryRegion;

/**
 * The assembler of a stream's inbound unit, from one frame or from a chain. Used by the owner of
 * the session until the unit is complete.
 */
public final class UnitAssembler {
  private UnitBuffer bytes = new UnitBuffer();
  private int flags;
  private int code;
  private int total;
  private int received;
  private boolean partial;
  private boolean discarded;

  /** Creates the assembler of a stream, with an empty buffer. */
  public UnitAssembler() {}

  /** Bytes of the unit: the session's until it hands them over, the call's afterwards. */
  public UnitBuffer bytes() {
    return bytes;
  }

  /** Flags of the unit. */
  public int flags() {
    return flags;
  }

  /** Method id of the unit, or status and process time. */
  public int code() {
    return code;
  }

  /** Length that the unit was announced with; longer than what is kept if too long. */
  public int total() {
    return total;
  }

  /** Bytes that have come in so far. */
  public int received() {
    return received;
  }

  /** True while frames of a chain are missing. */
  public boolean isPartial() {
    return partial;
  }

  /** True when the unit is too long to be kept. */
  public boolean isDiscarded() {
    return discarded;
  }

  /** Drops the rest of the unit as it comes in. */
  public void discard() {
    discarded = true;
  }

  /** Replaces the unit by a header that closes the stream; a partial unit is dropped. */
  public void close(int closeCode) {
    flags = CLOSE;
    code = closeCode;
    bytes.clear();
  }

  /** Takes the unit out; the next one comes into another buffer. */
  public Unit take() {
    final UnitBuffer taken = bytes;
    bytes = new UnitBuffer();
    partial = false;
    return new Unit(flags, code, taken, total, discarded);
  }

  /** Forgets the unit. */
  public void reset() {
    bytes.clear();
    flags = 0;
    code = 0;
    total = 0;
    received = 0;
    partial = false;
    discarded = false;
  }

  /**
   * Adds a frame to the unit. Memory grows with what has arrived, not with what is announced.
   *
   * @param maxLength longest unit that is kept; a longer one is taken in and dropped.
   * @param reads the queue in which a frame with BULK has put its read.
   * @param reader that such a read is done for.
   * @return false when the frame does not fit to what came before: the peer broke the protocol.
   */
  public <R> boolean accept(
      int frameFlags,
      int frameCode,
      MemoryRegion region,
      int offset,
      int length,
      int maxLength,
      BulkReads<R> reads,
      R reader) {
    final boolean continues = (frameFlags & CONTINUATION) != 0;
    final boolean more = (frameFlags & PARTIAL) != 0;
    final boolean bulk = (frameFlags & BULK) != 0;
    if (continues != partial || (!continues && (bulk || bytes.isReading()))) {
      return false;
    }
    int start = offset;
    int count = bulk ? reads.lastLength() : length;
    if (!continues) {
      flags = frameFlags & ~PARTIAL;
      code = frameCode;
      if (more) {
        if (length < Integer.BYTES) {
          return false;
        }
        total = region.getInt(offset);
        start += Integer.BYTES;
        count -= Integer.BYTES;
      } else {
        total = length;
      }
      received = 0;
      discarded = total > maxLength;
    }
    final int left = total - received;
    if (count > left || more == (count == left)) { // also of a negative total
      return false; // still partial: reads that are in line do not make a unit of it
    }
    partial = more;
    received += count;
    if (discarded) {
      return true;
    }
    if (bulk) {
      reads.lastInto(reader, bytes, bytes.extend(count, total, reads.arrays()));
    } else {
      bytes.addBytes(region, start, count);
    }
    return true;
  }
}
