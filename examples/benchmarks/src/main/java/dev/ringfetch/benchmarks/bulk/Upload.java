package dev.ringfetch.benchmarks.bulk;

/** A way of bulk to the server's process, as the client's process has it. */
public interface Upload {
  /** Longest that anything is waited for, in seconds. */
  int PATIENCE_SECONDS = 60;

  /**
   * Sends messages of one length for some time, two at least, and waits until the server has taken
   * them in. Throws unless it took in all.
   */
  Transfer run(int length, long millis) throws Exception;
}
