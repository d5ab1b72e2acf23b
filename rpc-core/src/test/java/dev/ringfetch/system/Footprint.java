package dev.ringfetch.system;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * What a process holds.
 *
 * @param heap bytes of objects that are reachable.
 * @param threads of the JVM's own, too; without those of the default executors, which keep an idle
 *     thread for a minute.
 * @param descriptors open files and sockets.
 * @param mapped bytes of shared memory.
 * @param files bytes of files in the shared-memory directory, of all creators.
 */
record Footprint(long heap, int threads, int descriptors, long mapped, long files) {
  private static final int COLLECTIONS = 3;

  /** Of this process. */
  static Footprint take(Path directory) throws IOException {
    for (int i = 0; i < COLLECTIONS; i++) { // what a cleaner lets go of is for the next one
      System.gc();
    }
    return new Footprint(
        ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed(),
        countThreads(),
        countDescriptors(),
        mappedLength(directory),
        filesLength(directory));
  }

  static Footprint parse(String line) {
    final String[] numbers = line.split(" ", -1);
    return new Footprint(
        Long.parseLong(numbers[0]),
        Integer.parseInt(numbers[1]),
        Integer.parseInt(numbers[2]),
        Long.parseLong(numbers[3]),
        Long.parseLong(numbers[4]));
  }

  /** For {@link #parse}. */
  String line() {
    return heap + " " + threads + " " + descriptors + " " + mapped + " " + files;
  }

  /** True when nothing is more than it was, but for so much heap and so many threads. */
  boolean isBackAt(Footprint before, long heapSlack, int threadSlack) {
    return heap <= before.heap + heapSlack
        && threads <= before.threads + threadSlack
        && descriptors <= before.descriptors
        && mapped <= before.mapped
        && files <= before.files;
  }

  @Override
  public String toString() {
    return String.format(
        "heap %.1f MiB, threads %d, descriptors %d, mapped %d KiB, files %d KiB",
        heap / 1048576.0, threads, descriptors, mapped / 1024, files / 1024);
  }

  private static int countDescriptors() throws IOException {
    try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
      return (int) all.count();
    }
  }

  private static int countThreads() throws IOException {
    int threads = 0;
    try (Stream<Path> all = Files.list(Path.of("/proc/self/task"))) {
      for (final Path task : all.toList()) {
        final String name = name(task); // the kernel keeps 15 characters
        if (!name.startsWith("ringfetch-execu") && !name.startsWith("grpc-default-ex")) {
          threads++;
        }
      }
    }
    return threads;
  }

  private static String name(Path task) {
    try {
      return Files.readString(task.resolve("comm"));
    } catch (IOException e) {
      return "ringfetch-execu"; // ended since it was listed
    }
  }

  private static long mappedLength(Path directory) throws IOException {
    long length = 0;
    for (final String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
      if (line.contains(directory.toString())) {
        final String[] range = line.substring(0, line.indexOf(' ')).split("-", 2);
        length += Long.parseUnsignedLong(range[1], 16) - Long.parseUnsignedLong(range[0], 16);
      }
    }
    return length;
  }

  private static long filesLength(Path directory) throws IOException {
    long length = 0;
    try (Stream<Path> tree = Files.walk(directory)) {
      for (final Path file : tree.toList()) {
        try {
          final boolean counts = file.endsWith("counters"); // as long as what was counted
          length += Files.isRegularFile(file) && !counts ? Files.size(file) : 0;
        } catch (NoSuchFileException e) {
          length += 0; // removed since it was listed
        }
      }
    }
    return length;
  }
}
