package dev.ringfetch.benchmarks;

import com.sun.management.ThreadMXBean;
import dev.ringfetch.examples.load.AllocatedBytes;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedClass;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;

/** The allocation of a process: its exact size, and its classes and places by sampling. */
final class Allocation {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final String SAMPLE = "jdk.ObjectAllocationSample";

  private Recording recording;

  private Allocation() {}

  /** Adds the commands by which a child process reports its allocation. */
  static CommandLoop addTo(CommandLoop loop) {
    final Allocation allocation = new Allocation();
    return loop.on("allocated", arguments -> AllocatedBytes.answer())
        .on("sample-begin", arguments -> allocation.begin())
        .on("sample-end", arguments -> allocation.end());
  }

  /** Bytes that the calling thread has allocated; the question itself allocates nothing. */
  static long ofThisThread() {
    return THREADS.getCurrentThreadAllocatedBytes();
  }

  private Answer begin() {
    recording = new Recording();
    recording.enable(SAMPLE).with("throttle", "10000/s");
    recording.start();
    return new Answer();
  }

  /** Ends sampling; answers the sampled bytes by class and place. */
  private Answer end() throws IOException {
    final Path file = Files.createTempFile("allocation", ".jfr");
    final Map<String, Long> bytes = new HashMap<>();
    try {
      recording.stop();
      recording.dump(file);
      recording.close();
      for (final RecordedEvent event : RecordingFile.readAllEvents(file)) {
        bytes.merge(name(event), event.getLong("weight"), Long::sum);
      }
    } finally {
      Files.delete(file);
    }
    final Answer answer = new Answer();
    bytes.forEach(answer::with);
    return answer;
  }

  private static String name(RecordedEvent event) {
    final RecordedClass type = event.getClass("objectClass");
    final StringBuilder name = new StringBuilder(type.getName());
    if (event.getStackTrace() != null && !event.getStackTrace().getFrames().isEmpty()) {
      for (final RecordedFrame frame : event.getStackTrace().getFrames()) {
        final String place = frame.getMethod().getType().getName();
        // The place that matters is not in the JDK's own classes.
        if (!place.startsWith("java.")) {
          name.append(" at ")
              .append(place.substring(place.lastIndexOf('.') + 1))
              .append('.')
              .append(frame.getMethod().getName());
          break;
        }
      }
    }
    return name.toString();
  }
}
