package dev.ringfetch.system;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * What a process has cost so far.
 *
 * @param ticks of CPU, 10 ms each.
 * @param switches voluntary context switches of Ringfetch's threads.
 */
record Cost(long ticks, long switches) {
  /** CPU of a process so far, and the voluntary context switches of Ringfetch's threads. */
  static Cost of(SystemChild child) throws IOException {
    final Path process = Path.of("/proc", Long.toString(child.pid()));
    final String stat = Files.readString(process.resolve("stat"));
    final String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
    final long ticks = Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
    long switches = 0;
    try (Stream<Path> tasks = Files.list(process.resolve("task"))) {
      for (final Path task : tasks.toList()) {
        if (Files.readString(task.resolve("comm")).startsWith("ringfetch")) {
          switches += voluntary(task.resolve("status"));
        }
      }
    }
    return new Cost(ticks, switches);
  }

  private static long voluntary(Path status) throws IOException {
    for (final String line : Files.readAllLines(status)) {
      if (line.startsWith("voluntary_ctxt_switches:")) {
        return Long.parseLong(line.substring(line.indexOf(':') + 1).trim());
      }
    }
    throw new IOException("no count in " + status);
  }
}
