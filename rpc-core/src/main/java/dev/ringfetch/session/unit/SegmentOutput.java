package dev.ringfetch.session.unit;

import dev.ringfetch.session.bulk.BulkPool;
import dev.ringfetch.session.bulk.Segment;
import java.io.OutputStream;

/**
 * Where a long message is marshalled to: registered memory, out of which the peer reads it, or the
 * unit's own for what finds none.
 */
public final class SegmentOutput extends OutputStream {
  private static final int LONGER = -1; // and whatever comes is longer than that

  private final UnitBuffer unit;
  private final BulkPool pool;
  private final byte[] one = new byte[1];
  private int left;
  private Segment segment; // where the next byte goes; null: into the unit
  private int filled;
  private int dry; // bytes to go before a pool that had nothing is asked again

  /**
   * Creates it.
   *
   * @param length that the message says it has, in bytes.
   */
  public SegmentOutput(UnitBuffer unit, BulkPool pool, int length) {
    this.unit = unit;
    this.pool = pool;
    this.left = length;
  }

  /** Bytes of the message that are missing; negative when it is longer than it has said. */
  public int missing() {
    return left;
  }

  @Override
  public void write(int value) {
    one[0] = (byte) value;
    write(one, 0, 1);
  }

  @Override
  public void write(byte[] source, int offset, int length) {
    if (length > left) {
      left = LONGER;
      return;
    }
    for (int done = 0; done < length; ) {
      if (segment == null && !next()) {
        final int rest = length - done;
        unit.addBytes(source, offset + done, rest);
        left -= rest;
        dry -= rest;
        return;
      }
      final int count = Math.min(length - done, segment.length() - filled);
      segment.put(filled, source, offset + done, count);
      filled += count;
      done += count;
      left -= count;
      if (filled == segment.length()) {
        segment = null;
      }
    }
  }

  /**
   * Asks for the next segment. A pool without one looks for what the peer has read, which drives
   * the session: that is done once for as much as a segment would have held, in however small
   * pieces the message comes.
   */
  private boolean next() {
    if (dry > 0) {
      return false;
    }
    segment = pool.allocate(Math.min(left, pool.segmentLength()));
    filled = 0;
    if (segment == null) {
      dry = pool.segmentLength();
      return false;
    }
    unit.addSegment(segment, 0, segment.length()); // now: the unit gives back what it has
    return true;
  }
}
