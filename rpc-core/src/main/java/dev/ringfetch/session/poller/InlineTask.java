package dev.ringfetch.session.poller;

/**
 * What a poller may run in its own thread, because others like it were short: {@linkplain
 * Poller#offer offered} to it, and then either run there or handed over.
 *
 * <p>Tasks link themselves into lines: one that is accepted and then lost, because there was no
 * memory to note it down, would leave a call without an end.
 */
public interface InlineTask {
  /**
   * Runs in the calling thread, which owns nothing, not even the poller's duty: another thread
   * takes that over if this takes long.
   */
  void runInline();

  /**
   * Runs in whatever thread it would have run in without a poller. Where it cannot, it sees to its
   * call's end itself, and may throw: others are handed over all the same.
   */
  void handOver();

  /** It ran inline and is over, and the thread is still the poller's. */
  void ranInline(long durationNs);

  /**
   * It runs inline, and for so long that another thread has taken the duty over; told there.
   *
   * @param waits true when its thread was found to wait for something, and not only to be slow.
   */
  void overran(boolean waits);

  /** The one behind it in the line of its session, or null. */
  InlineTask nextInLine();

  /** Puts one behind it. The poller's, while the task is in line. */
  void nextInLine(InlineTask next);
}
