package dev.ringfetch.session;

import dev.ringfetch.fabric.sim.Timeline;
import java.io.IOException;

/** A thread of a {@link ReplyExperiment}, on a processor of its own: it has its own next step. */
abstract class ReplyThread {
  private static final long POLL_NS = 100; // at the least, and less than twice
  private static final long WORK_NS = 50; // of a round that brings something, besides

  final Poller poller;
  private final Timeline timeline;
  private long nextNs;

  /** Creates a thread whose first step is at this time. */
  ReplyThread(Timeline timeline, Poller poller, long nextNs) {
    this.timeline = timeline;
    this.poller = poller;
    this.nextNs = nextNs;
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

  /** How long a round takes that may have brought something. */
  final long roundNs(boolean something) {
    return POLL_NS + timeline.random().nextLong(POLL_NS) + (something ? WORK_NS : 0);
  }

  /** How long the work that follows on something takes. */
  static long workNs() {
    return WORK_NS;
  }
}
