package dev.ringfetch.examples.quickstart;

import com.google.errorprone.annotations.FormatMethod;
import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.process.ChildFailure;
import dev.ringfetch.examples.process.Rings;
import dev.ringfetch.examples.process.TemporaryDirectory;
import dev.ringfetch.index.AtLeast;
import dev.ringfetch.index.OptionErrors;
import dev.ringfetch.index.direct.DirectReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The demo of direct reading: indexes of this JDK's classes in a server process, which this process
 * reads by calls and directly, by class and by package. Then it kills the server while it reads,
 * and starts a successor.
 */
@Command(
    name = "index demo",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Reads an index by calls and directly, also while its server is killed.",
    footer = {
      "",
      "The last line is for scripts. The exit code is 0 only if every answer was right and",
      "direct reads went on without a server."
    })
public final class IndexDemo implements Callable<Integer> {
  /** Of entries that have to be read directly while no server runs, by class and by package. */
  private static final long READS_WITHOUT_SERVER = 10_000;

  /** Of so many reads one is a scan. */
  private static final int READS_PER_SCAN = 20;

  private static final int WAIT_SECONDS = 60;
  private static final int POLL_MS = 2;
  private static final String SECOND = ", loaded again";
  private static final int MS_PER_ROUND = 20_000;

  private final PrintStream out = System.out;

  @Option(
      names = "--reads",
      converter = AtLeast.One.class,
      defaultValue = "200000",
      description = "Reads that are timed, of each kind. Default: ${DEFAULT-VALUE}.")
  private int reads;

  @Option(
      names = "--entries",
      converter = AtLeast.One.class,
      description = "Classes to load, at the most. Default: all.")
  private int entries = Integer.MAX_VALUE;

  @Option(
      names = "--data",
      paramLabel = "PATH",
      description = "Data directory of the servers. Default: a new one, deleted afterwards.")
  private Path data;

  @Mixin private Rings rings;

  /** Runs it; ends the JVM. */
  public static void main(String[] args) {
    System.exit(OptionErrors.printedFor(new CommandLine(new IndexDemo())).execute(args));
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    try (TemporaryDirectory temporary =
        data == null ? new TemporaryDirectory("ringfetch-index-") : null) {
      return run(temporary == null ? data : temporary.path())
          ? CommandLine.ExitCode.OK
          : CommandLine.ExitCode.SOFTWARE;
    } catch (ChildFailure | IllegalStateException e) {
      System.err.println("index demo: " + e.getMessage());
      return CommandLine.ExitCode.SOFTWARE;
    }
  }

  private boolean run(Path directory) throws IOException, InterruptedException {
    final List<ClassImage.Location> classes = ClassImage.read(entries);
    try (IndexServerProcess first = start(directory, 0);
        DemoClient client = new DemoClient(first.target(), rings)) {
      say("index server: process %d, port %d, data in %s", first.pid(), first.port(), directory);
      final long created = client.load(classes, "");
      say(
          "loaded: %,d classes of JDK %s, into a hash index and an ordered one; %,d entries new",
          classes.size(), Runtime.version(), created);
      final Sides sides = compareReads(first, client, classes);
      final PackageScans scans = new PackageScans(client, classes, "");
      final Sides ranges = compareScans(first, client, scans);
      say(
          "direct scans of %d classes take %.2f of the time of calls, direct reads %.2f",
          scans.size(),
          ranges.direct.figures.p50Us() / ranges.rpc.figures.p50Us(),
          sides.direct.figures.p50Us() / sides.rpc.figures.p50Us());
      final Outage outage = outage(first, directory, client, classes);
      final long mismatches = sides.mismatches + ranges.mismatches + outage.mismatches;
      say(
          "RESULT entries=%d mismatches=%d rpc_p50_us=%.2f direct_p50_us=%.2f rpc_p99_us=%.2f"
              + " direct_p99_us=%.2f server_us_per_rpc=%.2f server_us_per_direct=%.3f"
              + " package_entries=%d rpc_scan_p50_us=%.2f direct_scan_p50_us=%.2f"
              + " reads_without_server=%d scanned_without_server=%d wrong=%d turned=%d",
          classes.size(),
          mismatches,
          sides.rpc.figures.p50Us(),
          sides.direct.figures.p50Us(),
          sides.rpc.figures.p99Us(),
          sides.direct.figures.p99Us(),
          sides.rpc.serverUsPerRead(),
          sides.direct.serverUsPerRead(),
          scans.size(),
          ranges.rpc.figures.p50Us(),
          ranges.direct.figures.p50Us(),
          outage.readsWithoutServer,
          outage.scannedWithoutServer,
          outage.wrong,
          outage.turns);
      return mismatches + outage.wrong == 0
          && sides.wereDirect
          && ranges.wereDirect
          && outage.readsWithoutServer >= READS_WITHOUT_SERVER
          && (outage.scannedWithoutServer >= READS_WITHOUT_SERVER || scans.size() == 0)
          && outage.turns > 0
          && outage.directAgain;
    }
  }

  private IndexServerProcess start(Path directory, int port) throws IOException {
    return IndexServerProcess.start(
        List.of("--direct", "--port", Integer.toString(port), "--data", directory.toString()),
        "localhost",
        rings);
  }

  /** Reads everything both ways, and times both. */
  private Sides compareReads(
      IndexServerProcess server, DemoClient client, List<ClassImage.Location> classes)
      throws IOException {
    try (DirectReader reader = client.openReader(DemoClient.INDEX)) {
      final DirectLookup lookup = new DirectLookup(reader);
      final long byCall = DemoClient.mismatches(classes, "", client::call);
      final long directly = DemoClient.mismatches(classes, "", lookup);
      say(
          "read back: %,d entries by calls over %s with %,d mismatches, %,d directly with %,d",
          classes.size(), client.transport(), byCall, reader.directReads(), directly);
      if (!reader.isDirect()) {
        say("reads are not direct: %s", reader.obstacle());
      }
      say("measuring: %,d reads of each kind", reads);
      say("  %-8s %9s %9s %9s %12s %16s", "reads", "count", "p50 us", "p99 us", "reads/s", "");
      final Side rpc =
          measure(
              "calls",
              server,
              () -> DemoClient.measure(classes, client::call, reads, MS_PER_ROUND));
      final Side direct =
          measure("direct", server, () -> DemoClient.measure(classes, lookup, reads, MS_PER_ROUND));
      say(
          "direct reader: %,d direct, %,d retried, %,d by call, %,d turned away",
          reader.directReads(), reader.retries(), reader.callReads(), reader.turns());
      return new Sides(rpc, direct, byCall + directly, reader.callReads() == 0);
    }
  }

  /** Reads a package both ways, and times both. */
  private Sides compareScans(IndexServerProcess server, DemoClient client, PackageScans scans)
      throws IOException {
    try (DirectReader reader = client.openReader(DemoClient.ORDERED)) {
      final long byCalls = scans.mismatches(scans.byCalls());
      final long directly = scans.mismatches(scans.directly(reader));
      say(
          "all of %s*: %,d classes by calls with %,d mismatches, %,d directly with %,d",
          PackageScans.PREFIX, scans.size(), byCalls, reader.directReads(), directly);
      if (!reader.isDirect()) {
        say("scans are not direct: %s", reader.obstacle());
      }
      final long count = Math.max(1, reads / READS_PER_SCAN);
      final Side rpc =
          measure("scans", server, () -> scans.measure(scans::byCalls, count, MS_PER_ROUND));
      final Side direct =
          measure(
              "direct",
              server,
              () -> scans.measure(() -> scans.directly(reader), count, MS_PER_ROUND));
      return new Sides(rpc, direct, byCalls + directly, reader.scanCalls() == 0);
    }
  }

  private Side measure(String name, IndexServerProcess server, Supplier<Figures> round)
      throws IOException {
    final Figures warmUp = round.get();
    final long beforeNs = server.cpuNs();
    final Figures figures = round.get();
    final Side side = new Side(figures, server.cpuNs() - beforeNs);
    say(
        "  %-8s %,9d %9.2f %9.2f %,12.0f   server: %.3f us of processor a read",
        name,
        warmUp.calls(),
        figures.p50Us(),
        figures.p99Us(),
        figures.perSecond(),
        side.serverUsPerRead());
    return side;
  }

  /** Kills the server under reads, and starts another one at the same place. */
  private Outage outage(
      IndexServerProcess first,
      Path directory,
      DemoClient client,
      List<ClassImage.Location> classes)
      throws IOException, InterruptedException {
    final PackageScans scans = new PackageScans(client, classes, "");
    final ClassReads lookups = new ClassReads(classes);
    final List<OutageReads> both =
        List.of(
            new OutageReads(
                "outage-reads", () -> client.openReader(DemoClient.INDEX), lookups::next),
            new OutageReads(
                "outage-scans", () -> client.openReader(DemoClient.ORDERED), scans::next));
    both.forEach(Thread::start);
    final List<OutageReads> found = scans.size() == 0 ? both.subList(0, 1) : both;
    await("direct reads", both, () -> least(found, OutageReads::direct) > READS_WITHOUT_SERVER);
    first.kill();
    final long[] before = both.stream().mapToLong(OutageReads::direct).toArray();
    final ToLongFunction<OutageReads> since = reads -> reads.direct() - before[both.indexOf(reads)];
    await("direct reads", both, () -> least(found, since) >= READS_WITHOUT_SERVER);
    final long without = since.applyAsLong(both.get(0));
    final long scanned = since.applyAsLong(both.get(1));
    say(
        "killed process %d; %,d direct reads since, and %,d classes in direct scans",
        first.pid(), without, scanned);
    both.forEach(OutageReads::allowAbsence);
    try (IndexServerProcess second = start(directory, first.port())) {
      say("successor: process %d, on the same data directory", second.pid());
      await("turn to the successor", both, () -> least(both, OutageReads::turns) > 0);
      for (final OutageReads each : both) {
        each.end();
      }
      final long created = client.load(classes, SECOND);
      final long mismatches;
      final boolean direct;
      final PackageScans again = new PackageScans(client, classes, SECOND);
      try (DirectReader reader = client.openReader(DemoClient.INDEX);
          DirectReader scanner = client.openReader(DemoClient.ORDERED)) {
        mismatches =
            DemoClient.mismatches(classes, SECOND, client::call)
                + DemoClient.mismatches(classes, SECOND, new DirectLookup(reader))
                + again.mismatches(again.byCalls())
                + again.mismatches(again.directly(scanner));
        direct = reader.directReads() == classes.size() && scanner.scanCalls() == 0;
      }
      final long wrong = sum(both, OutageReads::wrong);
      say(
          "reads turned to it after %,d right and %,d wrong answers, %,d found no server;"
              + " loaded %,d entries again, read back with %,d mismatches",
          sum(both, OutageReads::right),
          wrong,
          sum(both, OutageReads::unavailable),
          created,
          mismatches);
      final long turns = sum(both, OutageReads::turns);
      return new Outage(without, scanned, wrong, turns, mismatches, direct);
    }
  }

  private static long least(List<OutageReads> reads, ToLongFunction<OutageReads> figure) {
    return reads.stream().mapToLong(figure).min().orElseThrow();
  }

  private static long sum(List<OutageReads> reads, ToLongFunction<OutageReads> figure) {
    return reads.stream().mapToLong(figure).sum();
  }

  private static void await(String what, List<OutageReads> reads, BooleanSupplier done)
      throws InterruptedException {
    final long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
    while (!done.getAsBoolean()) {
      reads.forEach(OutageReads::check);
      if (System.nanoTime() - deadlineNs > 0) {
        throw new IllegalStateException("no " + what + " within " + WAIT_SECONDS + " s");
      }
      Thread.sleep(POLL_MS);
    }
  }

  @FormatMethod
  private void say(String format, Object... arguments) {
    out.printf(Locale.ROOT, format + "%n", arguments);
    out.flush();
  }

  /** One way of reading: its latencies, and the processor time of the server meanwhile. */
  private record Side(Figures figures, long serverNs) {
    double serverUsPerRead() {
      return serverNs / 1e3 / figures.calls();
    }
  }

  /** Both ways, and whether the direct one was direct throughout. */
  private record Sides(Side rpc, Side direct, long mismatches, boolean wereDirect) {}

  /** What became of reads while the server was killed and replaced. */
  private record Outage(
      long readsWithoutServer,
      long scannedWithoutServer,
      long wrong,
      long turns,
      long mismatches,
      boolean directAgain) {}
}
