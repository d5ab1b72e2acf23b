package dev.ringfetch.benchmarks.stages;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/**
 * A split of a call: from its beginning to the end of one stage, which is another one in the next
 * call. So a call has two readings, wherever the second is, and what a reading costs is the same in
 * each split. For one thread.
 */
class Split {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final long NONE = Long.MIN_VALUE;

  private Stage until;
  private boolean bytes;
  private long begun;
  private long ended = NONE;

  /** Sets the reading: the bytes that the thread has allocated, or nanoseconds. */
  void ofBytes(boolean ofBytes) {
    bytes = ofBytes;
  }

  /** A call begins. Its split ends with this stage, or, of null, at once. */
  void begin(Stage last) {
    until = last;
    ended = NONE;
    begun = read();
    if (last == null) {
      ended = read();
    }
  }

  /** A stage has ended. */
  void ended(Stage stage) {
    if (stage == until) {
      ended = read();
    }
  }

  /**
   * Length of the split, in nanoseconds or bytes.
   *
   * @throws IllegalStateException if its stage has not ended.
   */
  long length() {
    if (ended == NONE) {
      throw new IllegalStateException("has not ended: " + until);
    }
    return ended - begun;
  }

  private long read() {
    return bytes ? THREADS.getCurrentThreadAllocatedBytes() : System.nanoTime();
  }
}
