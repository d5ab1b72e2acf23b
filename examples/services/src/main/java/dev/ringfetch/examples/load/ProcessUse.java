package dev.ringfetch.examples.load;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The processor time of a process so far, as Linux counts it.
 *
 * @param threads those that there are, by thread id.
 * @param ticks time on a processor in whole ticks of 10 ms, with threads that have ended.
 */
public record ProcessUse(Map<Long, ThreadUse> threads, long ticks) {
  private static final String SWITCHES = "voluntary_ctxt_switches:";
  private static final int USER_TIME = 11; // behind the name
  private static final long TICK_NS = 10_000_000;
  private static final long MAX_INACCURACY_NS = 3 * TICK_NS; // user and system time, and when

  /**
   * The processor time of one thread.
   *
   * @param name as the system knows it: 15 characters at most.
   * @param cpuNs time on a processor.
   * @param switches how often it gave up the processor voluntarily, in order to sleep.
   */
  public record ThreadUse(String name, long cpuNs, long switches) {
    /** True of threads of the JVM itself, which wake now and then whatever runs. */
    public boolean isJvm() {
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

  /** The processor time of a process, by its id. */
  public static ProcessUse of(long pid) throws IOException {
    final Map<Long, ThreadUse> threads = new TreeMap<>();
    try (Stream<Path> tasks = Files.list(Path.of("/proc", Long.toString(pid), "task"))) {
      for (final Path task : tasks.collect(Collectors.toList())) {
        try {
          threads.put(Long.valueOf(task.getFileName().toString()), thread(task));
        } catch (IOException e) { // it has ended, which a read reports by another exception
          if (Files.exists(task)) {
            throw e;
          }
        }
      }
    }
    return new ProcessUse(
        threads, ticks(Files.readString(Path.of("/proc", Long.toString(pid), "stat"))));
  }

  /** User and system time: fields 14 and 15, the second of which is a name with anything in it. */
  static long ticks(String stat) {
    final String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", 0);
    return Long.parseLong(fields[USER_TIME]) + Long.parseLong(fields[USER_TIME + 1]);
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

  /** What was used since a moment. */
  public ProcessUse since(ProcessUse before) {
    final Map<Long, ThreadUse> used = new TreeMap<>();
    threads.forEach((id, use) -> used.put(id, use.minus(before.threads.get(id))));
    return new ProcessUse(used, ticks - before.ticks);
  }

  /** Time on a processor, in nanoseconds: in ticks where threads that have ended had much of it. */
  public long cpuNs() {
    final long ofThreads = threads.values().stream().mapToLong(ThreadUse::cpuNs).sum();
    final long ofAll = ticks * TICK_NS;
    return ofAll - ofThreads > MAX_INACCURACY_NS ? ofAll : ofThreads;
  }

  /** Of {@link #cpuNs}, what the JVM's compilers have used. */
  public long compilersNs() {
    return threads.values().stream()
        .filter(ThreadUse::isCompiler)
        .mapToLong(ThreadUse::cpuNs)
        .sum();
  }

  /** How often threads gave up the processor: those of the JVM itself, or the others. */
  public long switches(boolean ofJvm) {
    return threads.values().stream()
        .filter(thread -> thread.isJvm() == ofJvm)
        .mapToLong(ThreadUse::switches)
        .sum();
  }
}
