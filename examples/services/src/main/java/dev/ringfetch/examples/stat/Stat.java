package dev.ringfetch.examples.stat;

import dev.ringfetch.counters.CounterFiles;
import dev.ringfetch.counters.Snapshot;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.index.AtLeast;
import dev.ringfetch.index.OptionErrors;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The program that prints the counters of this user's processes. It only reads, and changes neither
 * the processes nor their files.
 *
 * <p>Exit codes: 1 if there is no counter to be read, 2 if the command line is wrong.
 */
@Command(
    name = "stat",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Prints the counters of channels, backends, servers, sessions and pollers.")
public final class Stat implements Callable<Integer> {
  @Option(
      names = "--shm-directory",
      paramLabel = "PATH",
      description = "Where the files of shared memory are. Default: /dev/shm.")
  private Path directory = new FabricContext().directory();

  @Option(names = "--pid", paramLabel = "PID", description = "This process only.")
  private Long pid;

  @Option(
      names = "--watch",
      paramLabel = "SECONDS",
      converter = AtLeast.One.class,
      description = "Print again and again, with this pause.")
  private Integer seconds;

  @Spec private CommandSpec spec;

  /** Runs it; ends the JVM. */
  public static void main(String[] args) {
    System.exit(OptionErrors.printedFor(new CommandLine(new Stat())).execute(args));
  }

  @Override
  public Integer call() throws IOException {
    final PrintWriter out = spec.commandLine().getOut();
    boolean found = print(out);
    while (seconds != null && pause(TimeUnit.SECONDS.toNanos(seconds))) {
      out.println();
      found = print(out);
    }
    return found ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
  }

  /** False when the thread was interrupted. */
  private static boolean pause(long nanos) {
    final long startNs = System.nanoTime();
    long leftNs = nanos;
    while (leftNs > 0 && !Thread.currentThread().isInterrupted()) {
      LockSupport.parkNanos(leftNs);
      leftNs = nanos - (System.nanoTime() - startNs);
    }
    return leftNs <= 0;
  }

  /** Prints all processes, and returns whether there is one. */
  private boolean print(PrintWriter out) throws IOException {
    boolean found = false;
    for (final Path file : CounterFiles.find().list(directory)) {
      final String process = file.getParent().getFileName().toString();
      if (pid != null && !process.startsWith(pid + "-")) {
        continue;
      }
      try {
        final Snapshot snapshot = Snapshot.read(file);
        out.println("process " + snapshot.pid() + ", " + state(snapshot));
        Tables.print(snapshot, out);
        found = true;
      } catch (NoSuchFileException e) {
        out.println("process " + process + ": gone");
      } catch (IOException e) { // cut off, not a file of ours, of another version
        out.println("process " + process + ": cannot be read: " + e.getMessage());
      }
    }
    if (!found) {
      out.println(
          "no counters"
              + (pid == null ? "" : " of process " + pid)
              + " below "
              + directory
              + ": no channel or server of this user is open there");
    }
    out.flush();
    return found;
  }

  /** Another process may have the id by now: that one began later. */
  private static String state(Snapshot snapshot) {
    final Optional<ProcessHandle> process = ProcessHandle.of(snapshot.pid());
    final Optional<Long> started =
        process.flatMap(handle -> handle.info().startInstant()).map(Instant::toEpochMilli);
    final boolean same =
        process.isPresent()
            && (snapshot.startedMs() == 0
                || started.isEmpty()
                || started.get() == snapshot.startedMs());
    return same ? "running" : "ended: what it left goes when another one starts";
  }
}
