package dev.ringfetch.soak;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * What a process holds, as the kernel counts it.
 *
 * @param descriptors open files and sockets, without those of memory for long messages, of which a
 *     session has more when it needs more.
 * @param sessionDescriptors those of them that are files of sessions.
 * @param mappings files of sessions that are mapped.
 * @param registered files of memory for long messages that are mapped, its own and its peers'.
 * @param pollers threads that poll.
 * @param threads all of them.
 */
record Vitals(
    int descriptors,
    int sessionDescriptors,
    int mappings,
    int registered,
    int pollers,
    int threads) {
  private static final String SESSION = "/session-";
  private static final String REGISTERED = "/registered-";

  /** Whether a file is a session's, or memory that was registered beside it. */
  static boolean isMemory(String file) {
    return file.contains(SESSION) || file.contains(REGISTERED);
  }

  /** Of the files below a directory, and the process with an id. */
  static Vitals of(long pid, Path directory) throws IOException {
    final Path process = Path.of("/proc", Long.toString(pid));
    final String files = directory.toString();
    int descriptors = 0;
    int sessionDescriptors = 0;
    try (Stream<Path> entries = Files.list(process.resolve("fd"))) {
      for (final Path entry : entries.toList()) {
        final String target = target(entry);
        if (target.startsWith(files) && target.contains(REGISTERED)) {
          continue;
        }
        descriptors++;
        if (target.startsWith(files) && target.contains(SESSION)) {
          sessionDescriptors++;
        }
      }
    }
    int mappings = 0;
    int registered = 0;
    try (Stream<String> maps = Files.lines(process.resolve("maps"))) {
      for (final String line : maps.filter(line -> line.contains(files)).toList()) {
        mappings += line.contains(SESSION) ? 1 : 0;
        registered += line.contains(REGISTERED) ? 1 : 0;
      }
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
    return new Vitals(descriptors, sessionDescriptors, mappings, registered, pollers, threads);
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
