package dev.ringfetch.index.journal;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * The preparation of a journal's next segment, in steps between the batches. The reason of a failed
 * step, such as a full disk, is the journal's obstacle until a later step succeeds.
 *
 * <p>The journal's thread works; any thread asks for the obstacle.
 */
final class NextSegment {
  /** Pause after a failed step. */
  private static final long RETRY_NS = TimeUnit.SECONDS.toNanos(1);

  private final SegmentWriter segments;
  private final OwnerCheck owner;
  private final JournalObstacle obstacle;

  // Of the journal's thread.
  private long retryNs;
  private boolean retrying;
  private boolean changed;

  NextSegment(SegmentWriter segments, JournalContext context) {
    this.segments = segments;
    owner = context.owner;
    obstacle = new JournalObstacle(context.clock, context.obstacles);
  }

  /** The last failure, until a step succeeds. */
  JournalObstacle obstacle() {
    return obstacle;
  }

  /** Whether there may be more room, or an obstacle, since the last call. */
  boolean takeChanged() {
    final boolean was = changed;
    changed = false;
    return was;
  }

  /**
   * Prepares the next segment in proportion to the use of the present one, so that it is ready when
   * that one is full.
   *
   * @param used bytes of the present segment that were used since the last call
   * @return nanoseconds until the next step is due, 0 for at once; {@link Long#MAX_VALUE} for none
   * @throws IOException if the directory does not belong to this process any more
   */
  long work(long nowNs, long used) throws IOException {
    long stepNs;
    long left = used;
    do {
      stepNs = step(nowNs);
      left -= SegmentWriter.STEP_LENGTH;
    } while (stepNs == 0 && left > 0);
    return stepNs;
  }

  private long step(long nowNs) throws IOException {
    if (segments.isNextReady() || (retrying && nowNs - retryNs < 0)) {
      return segments.isNextReady() ? Long.MAX_VALUE : retryNs - nowNs;
    }
    owner.check(); // a later owner's file may prevent the next segment
    try {
      retrying = false;
      if (segments.prepare()) {
        return 0;
      }
      obstacle.set(null);
      changed = true;
      return Long.MAX_VALUE;
    } catch (IOException e) {
      obstacle.set(e);
      changed = true;
      retrying = true;
      retryNs = nowNs + RETRY_NS;
      return RETRY_NS;
    }
  }
}
