package dev.ringfetch.examples.load;

import com.sun.management.ThreadMXBean;
import dev.ringfetch.examples.process.Answer;
import java.lang.management.ManagementFactory;

/** The bytes that a process has allocated, as its JVM counts them. */
public final class AllocatedBytes {
  private AllocatedBytes() {}

  /**
   * For a command of a child process: {@code bytes} that the threads that are alive have allocated,
   * or {@code unknown} with the reason.
   */
  public static Answer answer() {
    if (!(ManagementFactory.getThreadMXBean() instanceof ThreadMXBean threads)
        || !threads.isThreadAllocatedMemorySupported()) {
      return new Answer().with("unknown", "this JVM does not count what threads allocate");
    }
    long sum = 0;
    for (final long bytes : threads.getThreadAllocatedBytes(threads.getAllThreadIds())) {
      sum += Math.max(bytes, 0);
    }
    return new Answer().with("bytes", sum);
  }
}
