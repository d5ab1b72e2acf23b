package dev.ringfetch.ring;

import static dev.ringfetch.ring.ControlDescriptor.BLOCKED_OFFSET;
import static dev.ringfetch.ring.ControlDescriptor.CONSUMED_OFFSET;
import static dev.ringfetch.ring.ControlDescriptor.CONTROL_LENGTH;
import static dev.ringfetch.ring.ControlDescriptor.RELEASED_OFFSET;
import static dev.ringfetch.ring.ControlDescriptor.SLEEP_OFFSET;

import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.QueuePair;

/**
 * A control line in a session's memory. Its setters belong to the side that writes the line, its
 * accessors to the other; each side owns them together with its end of the rings.
 */
public final class ControlFlyweight {
  private final QueuePair queuePair;
  private final MemoryRegion region;
  private final int offset;

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
    region.putLongRelease(offset + CONSUMED_OFFSET, position);
    queuePair.write(offset, CONTROL_LENGTH);
  }

  /** How many reads of the other side's registered memory the writer of the line has done. */
  public long released() {
    return region.getLongAcquire(offset + RELEASED_OFFSET);
  }

  /** Sets {@link #released()}. */
  public void released(long reads) {
    region.putLongRelease(offset + RELEASED_OFFSET, reads);
    queuePair.write(offset, CONTROL_LENGTH);
  }

  /** True while the writer of the line waits for its doorbell. */
  public boolean sleeping() {
    return region.getIntAcquire(offset + SLEEP_OFFSET) != 0;
  }

  /** Sets {@link #sleeping()}. The caller fences and looks at its ring again before it sleeps. */
  public void sleeping(boolean sleeping) {
    region.putIntRelease(offset + SLEEP_OFFSET, sleeping ? 1 : 0);
    queuePair.write(offset, CONTROL_LENGTH);
  }

  /** True while the writer of the line has output and no credit. */
  public boolean blocked() {
    return region.getIntAcquire(offset + BLOCKED_OFFSET) != 0;
  }

  /** Sets {@link #blocked()}. The caller fences and looks for credit again. */
  public void blocked(boolean blocked) {
    region.putIntRelease(offset + BLOCKED_OFFSET, blocked ? 1 : 0);
    queuePair.write(offset, CONTROL_LENGTH);
  }
}
