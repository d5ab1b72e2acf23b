package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.CommandLoop;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The memory and descriptors that a process has.
 *
 * @param heap bytes of reachable objects on the heap.
 * @param direct bytes of buffers outside of the heap.
 * @param mapped bytes of mapped files; two processes that map one file have its bytes once each.
 * @param descriptors open files and sockets.
 */
record Footprint(long heap, long direct, long mapped, long descriptors) {
  private static final String COMMAND = "footprint";
  private static final int COLLECTIONS = 3;
  private static final long CLEANING_MILLIS = 300; // for buffers' cleaners, which come after one

  static final Footprint NONE = new Footprint(0, 0, 0, 0);

  /** Adds the command of a child process that {@link #of} calls. */
  static CommandLoop addTo(CommandLoop loop) {
    return loop.on(
        COMMAND,
        arguments ->
            new Answer()
                .with("heap", collect())
                .with("direct", pool("direct"))
                .with("mapped", pool("mapped")));
  }

  /** Asks a process, which collects its garbage first. */
  static Footprint of(ChildProcess process) throws IOException {
    final Answer answer = process.ask(COMMAND);
    return new Footprint(
        answer.count("heap"),
        answer.count("direct"),
        answer.count("mapped"),
        descriptors(process.pid()));
  }

  private static long collect() throws InterruptedException {
    final MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
    for (int i = 0; i < COLLECTIONS; i++) {
      memory.gc();
      TimeUnit.MILLISECONDS.sleep(CLEANING_MILLIS);
    }
    return memory.getHeapMemoryUsage().getUsed();
  }

  private static long pool(String name) {
    return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
        .filter(pool -> pool.getName().equals(name))
        .mapToLong(BufferPoolMXBean::getMemoryUsed)
        .sum();
  }

  private static long descriptors(long pid) throws IOException {
    try (Stream<Path> open = Files.list(Path.of("/proc", Long.toString(pid), "fd"))) {
      return open.count();
    }
  }

  Footprint plus(Footprint other) {
    return new Footprint(
        heap + other.heap,
        direct + other.direct,
        mapped + other.mapped,
        descriptors + other.descriptors);
  }

  Footprint since(Footprint before) {
    return new Footprint(
        heap - before.heap,
        direct - before.direct,
        mapped - before.mapped,
        descriptors - before.descriptors);
  }

  /** The share of one among several that have this together, for a table. */
  String each(int count) {
    return count == 0
        ? ""
        : String.format(
            Locale.ROOT,
            "%,d %,d %,d %.2f",
            heap / count,
            direct / count,
            mapped / count,
            (double) descriptors / count);
  }
}
