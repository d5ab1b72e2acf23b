package dev.ringfetch.examples.kafka;

import dev.ringfetch.index.client.TopicLog;
import dev.ringfetch.index.client.TopicWatch;

/** The reading of one partition by a consumer: its log, and its position. Used by one thread. */
final class PartitionReader implements AutoCloseable {
  /** The position before it is known. */
  static final long UNKNOWN = -1;

  private final TopicLog log;
  private final Runnable onAppend;
  private TopicWatch notifications; // null: not asked for
  private long position = UNKNOWN;
  private long incarnation; // that has the position; 0: unknown
  private boolean isMissed; // the last read at this position found no partition
  private boolean paused;

  /**
   * Creates a reader without a position.
   *
   * @param onAppend called after appends, while notifications are on.
   */
  PartitionReader(TopicLog log, Runnable onAppend) {
    this.log = log;
    this.onAppend = onAppend;
  }

  TopicLog log() {
    return log;
  }

  /** Offset of the next record; {@link #UNKNOWN} before it was found. */
  long position() {
    return position;
  }

  /** Sets the offset of the next record, of whichever incarnation is there. */
  void position(long next) {
    position = next;
    incarnation = 0;
    isMissed = false;
  }

  /** Moves to a later offset of the same incarnation. */
  void moveTo(long next) {
    position = next;
  }

  /** The incarnation of the partition that has the position; 0: unknown. */
  long incarnation() {
    return incarnation;
  }

  void incarnation(long found) {
    incarnation = found;
    isMissed = false;
  }

  /** Whether there was no partition at the last read, since the position was set. */
  boolean isMissed() {
    return isMissed;
  }

  /** Notes that there is no partition. */
  void missed() {
    isMissed = true;
  }

  boolean isPaused() {
    return paused;
  }

  void pause(boolean now) {
    paused = now;
  }

  /** Turns notifications of appends on or off. The first one may come at once. */
  void notifications(boolean on) {
    if (on && notifications == null) {
      notifications = log.onAppend(onAppend);
    } else if (!on && notifications != null) {
      notifications.close();
      notifications = null;
    }
  }

  @Override
  public void close() {
    notifications(false);
  }
}
