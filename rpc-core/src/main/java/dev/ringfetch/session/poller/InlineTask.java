package dev.ringfetch.session.poller;

import org.jspecify.annotations.Nullable;

/**
 * A task that a poller may run on its own thread, because earlier ones of its kind were short:
 * {@linkplain Poller#offer offered} to it, and then either run there or handed over.
 *
 * <p>Tasks are linked into queues without allocation: if a task was accepted and then lost for lack
 * of memory, its call would never end.
 */
public interface InlineTask {
  /** After this time of tasks the sessions are served again, in nanoseconds. */
  long BUDGET_NS = 50_000;

  /**
   * Runs on the calling thread, which owns nothing, not even the poller: another thread takes that
   * over if this takes long.
   */
  void runInline();

  /**
   * Runs on the thread on which it would run without a poller. If it cannot, it ends its call
   * itself, and may throw: others are handed over all the same.
   */
  void handOver();

  /** The record of tasks of its kind. */
  RunRecord record();

  /** The parts of its last run in the poller's thread: the run is as long as one, on average. */
  default int inlineParts() {
    return 1;
  }

  /** The record of how long tasks of a kind keep their thread. Thread-safe. */
  interface RunRecord {
    /** True when the processor time of a run is to be measured, because earlier ones were long. */
    boolean isDoubtful();

    /**
     * Called when a task has run inline, and the thread still has the poller, or it was doubtful.
     *
     * @param durationNs for which it kept its thread.
     * @param processorNs time that it has computed, or {@link ProcessorTime#UNKNOWN}.
     * @param parts see {@link InlineTask#inlineParts}.
     */
    void ranInline(long durationNs, long processorNs, int parts);

    /**
     * Called on the backup thread that has taken the poller over, because a task runs inline for
     * too long.
     *
     * @param waits true when its thread was found waiting, and not only slow.
     */
    void overran(boolean waits);
  }

  /** The next task in the queue of its session. */
  @Nullable InlineTask nextInLine();

  /** Links the next task. Used by the poller, while the task is queued. */
  void nextInLine(@Nullable InlineTask next);
}
