package dev.ringfetch.soak;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * What a process holds, as the kernel counts it.
 *
 * @param descriptors open files and sockets.
 * @param sessionDescriptors those of them that are files of sessions.
 * @param mappings files of sessions that are mapped.
 * @param pollers threads that poll.
 * @param threads all of them.
 */
record Vitals(int descriptors, int sessionDescriptors, int mappings, int pollers, int threads) {
  private static final String SESSION = "/session-";

  /** Of the files below a directory, and the process with an id. */
  static Vitals of(long pid, Path directory) throws IOException {
    final Path process = Path.of("/proc", Long.toString(pid));
    final String files = directory.toString();
    int descriptors = 0;
    int sessionDescriptors = 0;
    try (Stream<Path> entries = Files.list(process.resolve("fd"))) {
      for (final Path entry : entries.toList()) {
        final String target = target(entry);
        descriptors++;
        if (target.startsWith(files) && target.contains(SESSION)) {
          sessionDescriptors++;
        }
      }
    }
    final long mappings;
    try (Stream<String> maps = Files.lines(process.resolve("maps"))) {
      mappings = maps.filter(line -> line.contains(files) && line.contains(SESSION)).count();
    }
    int pollers = 0;
    int threads = 0;
    try (Stream<Path> tasks = Files.list(process.resolve("task"))) {
      for (final Path task : tasks.toList()) {
        threads++;
        final String name = name(task); // the kernel keeps 15 characters
        if (name.startsWith("ringfetch-clien") || name.startsWith("ringfetch-serve")) {
          pollers++;
        }
      }
    }
    return new Vitals(descriptors, sessionDescriptors, (int) mappings, pollers, threads);
  }

  private static String target(Path descriptor) throws IOException {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (NoSuchFileException e) {
      return ""; // closed since it was listed
    }
  }

  private static String name(Path task) {
    try {
      return Files.readString(task.resolve("comm"));
    } catch (IOException e) {
      return ""; // ended since it was listed
    }
  }
}
