package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.Machine;
import dev.ringfetch.examples.load.ProcessUse;
import dev.ringfetch.examples.load.Spread;
import dev.ringfetch.examples.load.Turns;
import dev.ringfetch.examples.process.Rings;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A benchmark of the cost of idle sessions: for a busy one, and by themselves. */
@Command(
    name = "sessions",
    modelTransformer = RunOptions.Adding.class,
    mixinStandardHelpOptions = true,
    description =
        "Measures small calls of one client beside idle sessions, and what an idle one costs.")
final class SessionsBench implements Callable<Integer> {
  private static final double MAX_RATIO = 1.05;
  private static final double MAX_CPU = 0.01;
  private static final Path SHM = Path.of("/dev/shm");

  private final PrintStream out = System.out;
  private final Marks marks = new Marks();

  @Mixin
  private final RunOptions options =
      new RunOptions()
          .withRounds(5)
          .withMillis(2000)
          .withWarmUp("Milliseconds before the first round. Default: %s.", 10_000);

  @Option(
      names = "--idle",
      split = ",",
      defaultValue = "0,100,1000",
      description = "Idle sessions; others are compared with the first. Default: ${DEFAULT-VALUE}.")
  private List<Integer> counts;

  @Option(
      names = "--settle",
      defaultValue = "2000",
      description =
          "Milliseconds between sessions that come or go and what is measured."
              + " Default: ${DEFAULT-VALUE}.")
  private int settleMillis;

  @Option(
      names = "--seconds",
      defaultValue = "10",
      description = "How long to look on while all are idle. Default: ${DEFAULT-VALUE}.")
  private int seconds;

  @Mixin private Rings rings;

  @Override
  public Integer call() throws IOException, InterruptedException {
    Machine.print(out);
    try (Pair pair = Pair.start("localhost", true, List.of(Contender.ring), rings, List.of());
        IdleSessions idle = IdleSessions.start(pair.askServer("port").count("port"), rings)) {
      pair.ask(Contender.ring, "small", options.warmUp());
      idle.hold(counts.get(counts.size() - 1)); // memory that opening them needs exists from now on
      idle.hold(0);
      final boolean cheap = beside(pair, idle);
      final boolean quiet = alone(pair, idle);
      return cheap && quiet ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }
  }

  /** Measures calls of one client beside idle sessions; returns whether they hardly take longer. */
  private boolean beside(Pair pair, IdleSessions idle) {
    final Map<Integer, List<Figures>> measured =
        Turns.take(
            counts,
            options.rounds(),
            (count, round) -> {
              idle.hold(count);
              pair.ask(Contender.ring, "small", settleMillis);
              return Figures.parse(
                  marks.counted(pair.measure(Contender.ring, "small", options.millis())));
            });
    out.printf(
        "one busy client, blocking stub, 32 bytes, direct executors; %d rounds of %d ms by turns,"
            + " median [least .. most]%n%n",
        options.rounds(), options.millis());
    out.printf(
        "%13s  %-25s  %-27s %9s %7s%n", "idle sessions", "p50 us", "p99 us", "calls/s", "p50");
    boolean cheap = true;
    for (final int count : counts) {
      cheap &= print(count, measured.get(count), measured.get(counts.get(0)));
    }
    out.printf(
        Locale.ROOT,
        "%nlast column: median of the rounds, each by its own with %,d; bar: %.2f: %s%n%s%n%n",
        counts.get(0),
        MAX_RATIO,
        cheap ? "under the bar" : "OVER",
        marks.line());
    return cheap;
  }

  private boolean print(int count, List<Figures> figures, List<Figures> first) {
    final double ratio = Spread.ofRatios(figures, first, Figures::p50Us).median();
    final Figures median = Figures.median(figures);
    out.printf(
        Locale.ROOT,
        "%,13d  %-25s  %-27s %,9.0f %7.3f%n",
        count,
        Spread.of(figures, Figures::p50Us).text(3),
        Spread.of(figures, Figures::p99Us).text(2),
        median.perSecond(),
        ratio);
    return ratio < MAX_RATIO;
  }

  /** Measures the cost of idle sessions without calls; returns whether it is low. */
  private boolean alone(Pair pair, IdleSessions idle) throws IOException, InterruptedException {
    final FileStore shm = Files.getFileStore(SHM);
    idle.hold(0);
    IdleBench.pause(settleMillis);
    final Footprint server = Footprint.of(pair.server());
    final Footprint clients = idle.footprint();
    final long free = shm.getUnallocatedSpace();
    out.printf("nothing is asked for %d s; of a session: bytes, descriptors%n%n", seconds);
    out.printf(
        "%13s  %-10s %-10s  %-33s  %-33s  %s%n",
        "idle sessions",
        "server CPU",
        "clients'",
        "server: heap, direct, mapped, fds",
        "client: heap, direct, mapped, fds",
        SHM);
    boolean quiet = true;
    for (final int count : counts) {
      idle.hold(count);
      final Footprint ofServer = Footprint.of(pair.server()).since(server);
      final Footprint ofClients = idle.footprint().since(clients);
      final long taken = free - shm.getUnallocatedSpace();
      IdleBench.pause(settleMillis);
      final ProcessUse serverUse = ProcessUse.of(pair.server().pid());
      final List<ProcessUse> clientsUse = idle.use();
      final long startNs = System.nanoTime();
      IdleBench.pause(TimeUnit.SECONDS.toMillis(seconds));
      final double elapsedNs = System.nanoTime() - startNs;
      final double cpu = ProcessUse.of(pair.server().pid()).since(serverUse).cpuNs() / elapsedNs;
      quiet &= cpu < MAX_CPU;
      out.printf(
          Locale.ROOT,
          "%,13d  %-10s %-10s  %-33s  %-33s  %s%n",
          count,
          percent(cpu),
          percent(idle.cpuNsSince(clientsUse) / elapsedNs),
          ofServer.each(count),
          ofClients.each(count),
          count == 0 ? "" : String.format(Locale.ROOT, "%,d", taken / count));
    }
    out.printf(
        Locale.ROOT,
        "%nserver CPU, with its JVM; bar: %s of a core: %s%n",
        percent(MAX_CPU),
        quiet ? "under the bar" : "OVER");
    return quiet;
  }

  private static String percent(double part) {
    return String.format(Locale.ROOT, "%.2f %%", 100 * part);
  }
}
