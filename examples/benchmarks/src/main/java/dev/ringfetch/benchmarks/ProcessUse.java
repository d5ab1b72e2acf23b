package dev.ringfetch.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What the threads of a process have used so far, as Linux counts it.
 *
 * @param threads by thread id.
 */
record ProcessUse(Map<Long, ThreadUse> threads) {
  private static final String SWITCHES = "voluntary_ctxt_switches:";

  /**
   * What one thread has used.
   *
   * @param name as the system knows it: 15 characters at most.
   * @param cpuNs time on a processor.
   * @param switches how often it gave the processor up of itself: to sleep, that is.
   */
  record ThreadUse(String name, long cpuNs, long switches) {
    /** True of threads of the JVM itself, which wake now and then whatever runs. */
    boolean isJvm() {
      return name.startsWith("VM ")
          || name.startsWith("GC ")
          || name.startsWith("G1 ")
          || isCompiler()
          || name.startsWith("Sweeper")
          || name.startsWith("Monitor Deflati")
          || name.startsWith("Service Thread")
          || name.startsWith("Signal Dispatch")
          || name.startsWith("Attach Listener")
          || name.startsWith("Reference Handl")
          || name.startsWith("Finalizer")
          || name.startsWith("Common-Cleaner")
          || name.startsWith("Notification Th");
    }

    private boolean isCompiler() {
      return name.contains("CompilerThre");
    }

    private ThreadUse minus(ThreadUse before) {
      return before == null
          ? this
          : new ThreadUse(name, cpuNs - before.cpuNs, switches - before.switches);
    }
  }

  static ProcessUse of(long pid) throws IOException {
    final Map<Long, ThreadUse> threads = new TreeMap<>();
    try (Stream<Path> tasks = Files.list(Path.of("/proc", Long.toString(pid), "task"))) {
      for (final Path task : tasks.collect(Collectors.toList())) {
        try {
          threads.put(Long.valueOf(task.getFileName().toString()), thread(task));
        } catch (IOException e) { // it has ended, which a read within tells in its own way
          if (Files.exists(task)) {
            throw e;
          }
        }
      }
    }
    return new ProcessUse(threads);
  }

  private static ThreadUse thread(Path task) throws IOException {
    final long switches =
        Files.readAllLines(task.resolve("status")).stream()
            .filter(line -> line.startsWith(SWITCHES))
            .mapToLong(line -> Long.parseLong(line.substring(SWITCHES.length()).strip()))
            .sum();
    final String cpu = Files.readString(task.resolve("schedstat")).split(" ", 2)[0];
    return new ThreadUse(
        Files.readString(task.resolve("comm")).strip(), Long.parseLong(cpu), switches);
  }

  ProcessUse since(ProcessUse before) {
    final Map<Long, ThreadUse> used = new TreeMap<>();
    threads.forEach((id, use) -> used.put(id, use.minus(before.threads.get(id))));
    return new ProcessUse(used);
  }

  long cpuNs() {
    return threads.values().stream().mapToLong(ThreadUse::cpuNs).sum();
  }

  /** Of {@link #cpuNs}, what the JVM's compilers have used. */
  long compilersNs() {
    return threads.values().stream()
        .filter(ThreadUse::isCompiler)
        .mapToLong(ThreadUse::cpuNs)
        .sum();
  }

  long switches(boolean ofJvm) {
    return threads.values().stream()
        .filter(thread -> thread.isJvm() == ofJvm)
        .mapToLong(ThreadUse::switches)
        .sum();
  }
}
