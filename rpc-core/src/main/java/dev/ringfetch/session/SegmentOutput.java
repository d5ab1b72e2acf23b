package dev.ringfetch.session;

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
      if (segment == null) {
        segment = pool.allocate(Math.min(left, pool.segmentLength()));
        filled = 0;
        if (segment == null) {
          unit.addBytes(source, offset + done, length - done);
          left -= length - done;
          return;
        }
        // Before anything can go wrong: the unit gives back what it has.
        unit.addSegment(segment, 0, segment.length());
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
}
