package dev.ringfetch.ring;

import static dev.ringfetch.ring.ControlDescriptor.BLOCKED_OFFSET;
import static dev.ringfetch.ring.ControlDescriptor.CONSUMED_OFFSET;
import static dev.ringfetch.ring.ControlDescriptor.CONTROL_LENGTH;
import static dev.ringfetch.ring.ControlDescriptor.FETCHING_OFFSET;
import static dev.ringfetch.ring.ControlDescriptor.RELEASED_OFFSET;
import static dev.ringfetch.ring.ControlDescriptor.SLEEP_OFFSET;
import static dev.ringfetch.ring.ControlDescriptor.TURN_BEGIN_OFFSET;
import static dev.ringfetch.ring.ControlDescriptor.TURN_CHECK_OFFSET;
import static dev.ringfetch.ring.ControlDescriptor.TURN_LENGTH_OFFSET;
import static dev.ringfetch.ring.ControlDescriptor.TURN_PERIOD_OFFSET;
import static dev.ringfetch.ring.ControlDescriptor.TURN_STAMP_OFFSET;

import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;

/**
 * A control line in a session's memory. Its setters belong to the side that writes the line, its
 * accessors to the other; each side owns them together with its end of the rings.
 *
 * <p>A setter stores. Where the peer loads from the same memory, that is all; behind a card the
 * peer sees what was set when {@link #publish} has posted it, several words at once.
 */
public final class ControlFlyweight {
  private final QueuePair queuePair;
  private final MemoryRegion region;
  private final int offset;

  private boolean dirty;
  private long publications;

  /** Overlays the line at this offset of the queue pair's memory. */
  public ControlFlyweight(QueuePair queuePair, int offset) {
    this.queuePair = queuePair;
    this.region = queuePair.memory();
    this.offset = offset;
  }

  /** Position up to which the writer of the line has consumed. */
  public long consumed() {
    return region.getLongAcquire(offset + CONSUMED_OFFSET);
  }

  /** Sets {@link #consumed()}. */
  public void consumed(long position) {
    put(CONSUMED_OFFSET, position);
  }

  /** How many reads of the other side's registered memory the writer of the line has done. */
  public long released() {
    return region.getLongAcquire(offset + RELEASED_OFFSET);
  }

  /** Sets {@link #released()}. */
  public void released(long reads) {
    put(RELEASED_OFFSET, reads);
  }

  /** True while the writer of the line waits for its doorbell. */
  public boolean sleeping() {
    return isSet(SLEEP_OFFSET);
  }

  /**
   * Sets {@link #sleeping()}. The caller publishes, fences and looks at its ring again before it
   * sleeps.
   */
  public void sleeping(boolean sleeping) {
    put(SLEEP_OFFSET, sleeping);
  }

  /** True while the writer of the line has output and no credit. */
  public boolean blocked() {
    return isSet(BLOCKED_OFFSET);
  }

  /** Sets {@link #blocked()}. The caller publishes, fences and looks for credit again. */
  public void blocked(boolean blocked) {
    put(BLOCKED_OFFSET, blocked);
  }

  /** True while the writer of the line fetches what the other side stores. */
  public boolean fetching() {
    return isSet(FETCHING_OFFSET);
  }

  /** Sets {@link #fetching()}. */
  public void fetching(boolean fetching) {
    put(FETCHING_OFFSET, fetching);
  }

  /** When the writer of the line told of turns, by its own clock; in nanoseconds. */
  public long turnStamp() {
    return region.getLongAcquire(offset + TURN_STAMP_OFFSET);
  }

  /** How long after the stamp the next turn begins, in nanoseconds. */
  public int turnBegin() {
    return region.getIntAcquire(offset + TURN_BEGIN_OFFSET);
  }

  /** How long a turn lasts, in nanoseconds. */
  public int turnLength() {
    return region.getIntAcquire(offset + TURN_LENGTH_OFFSET);
  }

  /** Time from turn to turn, in nanoseconds; 0 when there are none. */
  public int turnPeriod() {
    return region.getIntAcquire(offset + TURN_PERIOD_OFFSET);
  }

  /** True when these four words, as they were loaded, were told together. */
  public boolean isTurn(long stamp, int begin, int length, int period) {
    final int check = region.getIntAcquire(offset + TURN_CHECK_OFFSET);
    return check == turnCheck(stamp, begin, length, period);
  }

  /** Sets {@link #turnStamp()}, {@link #turnBegin()} and so on. */
  public void turn(long stamp, int begin, int length, int period) {
    region.putLongRelease(offset + TURN_STAMP_OFFSET, stamp);
    region.putIntRelease(offset + TURN_BEGIN_OFFSET, begin);
    region.putIntRelease(offset + TURN_LENGTH_OFFSET, length);
    region.putIntRelease(offset + TURN_PERIOD_OFFSET, period);
    region.putIntRelease(offset + TURN_CHECK_OFFSET, turnCheck(stamp, begin, length, period));
    dirty = true;
  }

  /** {@code ((stamp * 31 + begin) * 31 + length) * 31 + period}, the low 32 bits. */
  static int turnCheck(long stamp, int begin, int length, int period) {
    return (((int) stamp * 31 + begin) * 31 + length) * 31 + period;
  }

  /** True when something was set since {@link #publish} has posted the line. */
  public boolean isDirty() {
    return dirty;
  }

  /**
   * Hands what was set since the last time to the fabric, in one work request; none if nothing was.
   *
   * @return {@link QueuePair#POSTED}, or {@link QueuePair#SEND_QUEUE_FULL} or {@link
   *     QueuePair#CLOSED} with the line still dirty.
   */
  public int publish() {
    if (!dirty) {
      return QueuePair.POSTED;
    }
    final int posted = queuePair.write(offset, CONTROL_LENGTH);
    if (posted == QueuePair.POSTED) {
      dirty = false;
      publications++;
    }
    return posted;
  }

  /** Work requests that {@link #publish} has posted. */
  public long publications() {
    return publications;
  }

  private boolean isSet(int flag) {
    return region.getIntAcquire(offset + flag) != 0;
  }

  private void put(int flag, boolean set) {
    region.putIntRelease(offset + flag, set ? 1 : 0);
    dirty = true;
  }

  private void put(int word, long value) {
    region.putLongRelease(offset + word, value);
    dirty = true;
  }
}
