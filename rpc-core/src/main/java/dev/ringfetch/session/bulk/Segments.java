package dev.ringfetch.session.bulk;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a unit in registered memory, in their order. Used by the owner of the unit; when the
 * unit is garbage, the pool takes the memory back.
 */
public final class Segments extends PhantomReference<Object> {
  private final BulkPool pool;
  private Part[] parts = new Part[4];
  private int count;
  private int next;
  private long length;

  /**
   * One part.
   *
   * @param segment that it is in, retained for it.
   * @param offset in the segment.
   * @param length in bytes.
   * @param position in the unit's other bytes, before which it stands.
   */
  public record Part(Segment segment, int offset, int length, int position) {}

  Segments(BulkPool pool, Object unit, ReferenceQueue<Object> dropped) {
    super(unit, dropped);
    this.pool = pool;
  }

  /** Adds a part, with the reference to its segment. */
  public void add(Segment segment, int offset, int partLength, int position) {
    if (count == parts.length) {
      parts = Arrays.copyOf(parts, 2 * count);
    }
    parts[count++] = new Part(segment, offset, partLength, position);
    length += partLength;
  }

  /** Shortens the part that was added last. */
  public void shortenLast(int partLength) {
    final Part last = parts[count - 1];
    parts[count - 1] = new Part(last.segment(), last.offset(), partLength, last.position());
    length += partLength - last.length();
  }

  /** Length of all parts in bytes, also of those that were taken. */
  public long length() {
    return length;
  }

  /** The next part. */
  public @Nullable Part peek() {
    return next < count ? parts[next] : null;
  }

  /** True when no part comes after the next one. */
  public boolean isLast() {
    return next == count - 1;
  }

  /** Takes the part that {@link #peek} returns, with the reference to its segment. */
  public Segment take() {
    final Segment taken = parts[next].segment();
    parts[next++] = null;
    if (next == count) {
      pool.returned(this);
    }
    return taken;
  }

  /** Gives back the parts that were not taken. Idempotent. */
  public void release() {
    while (next < count) {
      take().release();
    }
    pool.returned(this);
  }
}
