package dev.ringfetch.session.poller;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What Linux's scheduler counts of a thread and of its process's control group.
 *
 * @param runDelayNs time for which the thread was ready and had no processor.
 * @param slices times that it got a processor.
 * @param throttled periods in which the group had used its quota up; 0 without a quota.
 */
public record SchedStat(long runDelayNs, long slices, long throttled) {
  private static final String THREAD = "/proc/thread-self/schedstat";
  private static final Path GROUPS = Path.of("/proc/self/cgroup");
  private static final Path ROOT = Path.of("/sys/fs/cgroup");
  private static final int MAX_LENGTH = 1024;

  /** Reads the calling thread's; null where the system has none. Some 50 us. */
  public static @Nullable SchedStat ofThread() {
    try {
      final String[] words = read(THREAD).split("\\s+", 0);
      return new SchedStat(Long.parseLong(words[1]), Long.parseLong(words[2]), throttledPeriods());
    } catch (IOException | RuntimeException e) { // not Linux, or another kernel's format
      return null;
    }
  }

  private static long throttledPeriods() {
    try {
      final Path stat = groupStat(Files.readString(GROUPS), ROOT);
      return stat == null ? 0 : throttled(read(stat.toString()));
    } catch (IOException | RuntimeException e) { // no control groups, or not for this process
      return 0;
    }
  }

  private static String read(String file) throws IOException {
    try (FileInputStream in = new FileInputStream(file)) {
      return new String(in.readNBytes(MAX_LENGTH), StandardCharsets.US_ASCII);
    }
  }

  /**
   * The file of the control group that schedules a process; null if there is none.
   *
   * @param groups of the process: a line {@code id:controllers:path} for each hierarchy of v1, and
   *     {@code 0::path} for that of v2.
   * @param root where the hierarchies are mounted. A container sees its own group there.
   */
  static @Nullable Path groupStat(String groups, Path root) {
    for (final String line : groups.split("\n", 0)) {
      final String[] parts = line.split(":", 3);
      final boolean unified = parts[1].isEmpty();
      if (unified || (',' + parts[1] + ',').contains(",cpu,")) {
        final Path mount = unified ? root : root.resolve("cpu");
        final Path ofGroup = mount.resolve(parts[2].substring(1)).resolve("cpu.stat");
        if (Files.exists(ofGroup)) {
          return ofGroup;
        }
        final Path ofContainer = mount.resolve("cpu.stat");
        if (Files.exists(ofContainer)) {
          return ofContainer;
        }
      }
    }
    return null;
  }

  /** The periods in a file of a group; 0 if it has none. */
  static long throttled(String stat) {
    for (final String line : stat.split("\n", 0)) {
      if (line.startsWith("nr_throttled ")) {
        return Long.parseLong(line.substring(line.indexOf(' ') + 1).strip());
      }
    }
    return 0;
  }
}
