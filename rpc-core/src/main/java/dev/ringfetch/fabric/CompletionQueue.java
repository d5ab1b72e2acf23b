package dev.ringfetch.fabric;

/** Completions of signaled work requests, in posting order. Single-threaded owner. */
public interface CompletionQueue {
  /**
   * Hands out completions.
   *
   * @param limit how many at the most.
   * @return how many were handed out.
   */
  int poll(Handler handler, int limit);

  /** Receives completions. */
  @FunctionalInterface
  interface Handler {
    /**
     * A work request has ended.
     *
     * @param workRequestId as it was posted.
     * @param status {@link QueuePair#SUCCESS} or {@link QueuePair#FLUSHED}.
     * @param value the former word of an atomic, otherwise the number of bytes.
     */
    void onCompletion(long workRequestId, int status, long value);
  }
}
