package dev.ringfetch.examples.memory;

import com.google.errorprone.annotations.FormatMethod;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildFailure;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.TemporaryDirectory;
import dev.ringfetch.index.AtLeast;
import dev.ringfetch.index.OptionErrors;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The demo of memory that programs share: a process publishes quotes and trades, three read them
 * from its memory. One reader is paused, and one is killed while it holds a lock.
 */
@Command(
    name = "memory",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Market data: one process publishes, three read its memory.",
    footer = {
      "",
      "The exit code is 0 only if every quote and trade that was read was whole, none",
      "went back, each trade came or was counted as lost, the lock of the killed",
      "reader was free within a second, and nothing is left in shared memory."
    })
public final class MarketData implements Callable<Integer> {
  private static final int READERS = 3;
  private static final int PAUSED = 1;
  private static final int KILLED = 2;
  private static final long LOCK_LIMIT_MS = 1000;

  private final PrintStream out = System.out;
  private final List<ChildProcess> readers = new ArrayList<>();
  private final List<String> arguments = new ArrayList<>(); // of the processes
  private ChildProcess publisher;
  private boolean right = true;

  @Option(
      names = "--quotes",
      converter = AtLeast.One.class,
      defaultValue = "100000",
      description = "How many are published. Default: ${DEFAULT-VALUE}.")
  private int count;

  @Option(
      names = "--millis",
      converter = AtLeast.One.class,
      defaultValue = "5000",
      description = "How long that takes. Default: ${DEFAULT-VALUE}.")
  private int millis;

  @Option(
      names = "--fabric",
      paramLabel = "NAME",
      defaultValue = "shm",
      description = "Over which memory is read: shm or verbs. Default: ${DEFAULT-VALUE}.")
  private String fabric;

  @Option(
      names = "--shm-directory",
      paramLabel = "PATH",
      defaultValue = "/dev/shm",
      description = "Where shared memory is. Default: ${DEFAULT-VALUE}.")
  private Path shmDirectory;

  /** Runs it; ends the JVM. */
  public static void main(String[] args) {
    System.exit(OptionErrors.printedFor(new CommandLine(new MarketData())).execute(args));
  }

  @Override
  public Integer call() throws Exception {
    try (TemporaryDirectory directory = new TemporaryDirectory(shmDirectory, "ringfetch-memory-")) {
      run(directory.path());
      close();
      try (Stream<Path> paths = Files.walk(directory.path())) {
        final List<Path> left = paths.filter(Files::isRegularFile).toList();
        check(left.isEmpty(), "left in shared memory: %s", left);
      }
    } catch (ChildFailure e) {
      System.err.println("memory: " + e.getMessage());
      right = false;
    } finally {
      close();
    }
    say(right ? "every value was whole, and none went back" : "WRONG: see above");
    return right ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
  }

  private void close() {
    readers.forEach(ChildProcess::close);
    readers.clear();
    if (publisher != null) {
      publisher.close();
      publisher = null;
    }
  }

  private void run(Path directory) throws Exception {
    start(directory);
    say("%,d quotes and as many trades over %d ms; %d processes read", count, millis, READERS);
    final CompletableFuture<Answer> published =
        CompletableFuture.supplyAsync(() -> publisher.ask("publish", count, millis));
    TimeUnit.MILLISECONDS.sleep(millis / 5);
    readers.get(PAUSED).stop();
    say("reader %d is stopped where it is", PAUSED);
    TimeUnit.MILLISECONDS.sleep(2L * millis / 5);
    readers.get(PAUSED).goOn();
    say("reader %d goes on", PAUSED);
    killHolder();
    readers.set(KILLED, startReader()); // which removes what the dead one has left
    read(readers.get(KILLED));
    say("another reader takes the place of reader %d", KILLED);
    final Answer all = published.get();
    say(
        "published: %.0f ns for a quote and a trade",
        (double) all.count("ns") / all.count("quotes"));
    long orders = 0;
    for (int i = 0; i < READERS; i++) {
      final Answer seen = readers.get(i).ask("finish");
      orders += seen.count("orders");
      check(i, seen, all);
    }
    final long counted = publisher.ask("orders").count("orders"); // the killed reader's, too
    check(counted >= orders, "orders: %d counted, %d made", counted, orders);
  }

  private void start(Path directory) throws IOException {
    arguments.addAll(List.of("--shm-directory", directory.toString(), "--fabric", fabric));
    publisher = ChildProcess.start(List.of(), PublisherProcess.class, arguments);
    arguments.addAll(List.of("--target", "localhost:" + publisher.readLine()));
    for (int i = 0; i < READERS; i++) {
      readers.add(startReader());
    }
    readers.forEach(this::read);
  }

  private ChildProcess startReader() throws IOException {
    return ChildProcess.start(List.of(), ReaderProcess.class, arguments);
  }

  private void read(ChildProcess reader) {
    final String obstacle = reader.ask("read").text("obstacle");
    check(obstacle.equals("none"), "a reader has to make calls: %s", obstacle);
  }

  /** Kills a reader that holds the lock, and lets another one acquire it. */
  private void killHolder() {
    final long fence = readers.get(KILLED).ask("hold").count("fence");
    readers.get(KILLED).kill();
    final long startNs = System.nanoTime();
    final long next = readers.get(0).ask("acquire").count("fence");
    final long ms = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
    say("reader %d is killed; its lock went to reader 0 after %d ms", KILLED, ms);
    check(ms < LOCK_LIMIT_MS, "the lock was held by the dead for %d ms", ms);
    check(next > fence, "the fencing number has not grown: %d after %d", next, fence);
  }

  private void check(int reader, Answer seen, Answer all) {
    say(
        "reader %d: %,d quotes read; %,d trades, %,d lost; %,d of all without a call",
        reader,
        seen.count("reads"),
        seen.count("trades"),
        seen.count("lost"),
        seen.count("direct"));
    check(seen.count("torn") == 0, "torn: %d", seen.count("torn"));
    check(seen.count("back") == 0, "went back: %d", seen.count("back"));
    check(
        seen.count("quotes") == all.count("quotes"),
        "the last quotes were not seen: %d of %d",
        seen.count("quotes"),
        all.count("quotes"));
    check(
        seen.count("trades") == 0 // it began after the last one
            || seen.count("before") + seen.count("trades") + seen.count("lost")
                == all.count("trades"),
        "trades: %d before, %d, and %d lost, of %d",
        seen.count("before"),
        seen.count("trades"),
        seen.count("lost"),
        all.count("trades"));
  }

  @FormatMethod
  private void check(boolean holds, String format, Object... arguments) {
    if (!holds) {
      right = false;
      out.print("WRONG: ");
      say(format, arguments);
    }
  }

  @FormatMethod
  private void say(String format, Object... arguments) {
    out.printf(Locale.ROOT, format + "%n", arguments);
    out.flush();
  }
}
