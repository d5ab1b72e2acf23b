package dev.ringfetch.session;

import dev.ringfetch.fabric.sim.SimDoorbell;
import dev.ringfetch.fabric.sim.Timeline;
import dev.ringfetch.session.poller.Poller;
import java.io.IOException;

/** A thread of a {@link ReplyExperiment}, on a processor of its own: it has its own next step. */
abstract class ReplyThread {
  private static final long WORK_NS = 50; // of a round that brings something, besides

  private static final int PATIENCE = 8; // rounds; some things come by time alone

  final Poller poller;
  private final SimDoorbell doorbell;
  private final Timeline timeline;
  private final long pollNs;
  private long nextNs;
  private long changes;
  private int skipped;

  /** Creates a thread whose first step is at this time, and whose rounds take so long. */
  ReplyThread(Timeline timeline, Poller poller, long nextNs, long pollNs) {
    this.timeline = timeline;
    this.poller = poller;
    this.doorbell = (SimDoorbell) poller.doorbell();
    this.nextNs = nextNs;
    this.pollNs = pollNs;
  }

  /** When it does its next step, in nanoseconds. */
  long nextNs() {
    return nextNs;
  }

  /** Goes on after the next step's time. */
  void step() throws IOException {
    nextNs += run(nextNs);
  }

  /** Does a step, and returns how long it takes, in nanoseconds: then comes the next. */
  abstract long run(long nowNs) throws IOException;

  /**
   * Does a round, unless nothing can have come since the last one.
   *
   * @param timed true where something is due at a time.
   */
  final void poll(boolean timed) throws IOException {
    if (timed || doorbell.changes() != changes || ++skipped == PATIENCE) {
      changes = doorbell.changes();
      skipped = 0;
      poller.doWork();
    }
  }

  /** How long a round takes that may have brought something. */
  final long roundNs(boolean something) {
    return pollNs + timeline.random().nextLong(pollNs) + (something ? WORK_NS : 0);
  }

  /** How long the work that follows on something takes. */
  static long workNs() {
    return WORK_NS;
  }
}
