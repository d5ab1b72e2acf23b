package dev.ringfetch.session.unit;

import dev.ringfetch.session.bulk.BulkPool;
import dev.ringfetch.session.bulk.Segment;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;

/**
 * Output stream for a long message: marshals into registered memory, out of which the peer reads
 * it, or into the unit's own memory where there is none.
 */
public final class SegmentOutput extends OutputStream {
  private static final int LONGER = -1; // any message is longer than that

  private final UnitBuffer unit;
  private final BulkPool pool;
  private final byte[] one = new byte[1];
  private int left;
  private int more; // bytes that may follow in the unit's own memory
  private @Nullable Segment segment; // where the next byte goes; null: into the unit
  private int filled;
  private int dry; // bytes until an empty pool is asked again

  /**
   * Creates the stream of one message.
   *
   * @param length declared length of the message, in bytes.
   */
  public SegmentOutput(UnitBuffer unit, BulkPool pool, int length) {
    this(unit, pool, length, length);
  }

  /**
   * Creates the stream of one message that only estimates its length; {@link #end} ends it.
   *
   * @param estimate of the length: what is beyond it goes into the unit's own memory.
   * @param maxLength longest message in bytes.
   */
  public SegmentOutput(UnitBuffer unit, BulkPool pool, int estimate, int maxLength) {
    this.unit = unit;
    this.pool = pool;
    this.left = estimate;
    this.more = maxLength - estimate;
  }

  /** Ends a message that may be shorter than estimated. */
  public void end() {
    if (segment != null) {
      unit.shortenSegment(filled);
      segment = null;
    }
  }

  /** Bytes of the message that are missing; negative when it is longer than allowed. */
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
      final int beyond = length - left;
      if (beyond > more) {
        left = LONGER;
        more = 0;
        return;
      }
      write(source, offset, left);
      more -= beyond;
      unit.addBytes(source, offset + length - beyond, beyond);
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
   * Requests the next segment. An empty pool looks for memory that the peer has read, which drives
   * the session: so it is asked only once per segment length, however small the pieces of the
   * message are.
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
    unit.addSegment(segment, 0, segment.length()); // now, so that the unit gives it back
    return true;
  }
}
