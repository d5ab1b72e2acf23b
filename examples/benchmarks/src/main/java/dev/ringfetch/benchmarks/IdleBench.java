package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Machine;
import dev.ringfetch.examples.load.ProcessUse;
import dev.ringfetch.examples.load.Spread;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** A benchmark of the cost of a connected pair without calls, and of the next call after that. */
@Command(
    name = "idle",
    mixinStandardHelpOptions = true,
    description = "Measures what an idle pair costs, and the first call after idling.")
final class IdleBench implements Callable<Integer> {
  private static final int WARM_UP_CALLS = 20_000;
  private static final int SETTLE_MILLIS = 3_000;
  private static final int MAX_SWITCHES = 20;
  private static final double MAX_CPU = 0.01;
  private static final double NS_PER_S = 1e9;

  private final PrintStream out = System.out;
  private final Marks marks = new Marks();

  @Option(
      names = "--seconds",
      defaultValue = "10",
      description = "How long to look on. Default: ${DEFAULT-VALUE}.")
  private int seconds;

  @Option(
      names = "--repetitions",
      defaultValue = "20",
      description = "Of a short idle time and a call. Default: ${DEFAULT-VALUE}.")
  private int repetitions;

  @Option(
      names = "--pause",
      defaultValue = "200",
      description = "Milliseconds of a short idle time. Default: ${DEFAULT-VALUE}.")
  private int pauseMillis;

  @Override
  public Integer call() throws IOException, InterruptedException {
    Machine.print(out);
    boolean passed = true;
    for (final Contender contender : List.of(Contender.ring, Contender.grpc)) {
      try (Pair pair = Pair.start(true, List.of(contender), List.of())) {
        pair.ask(contender, "calls", WARM_UP_CALLS);
        pause(SETTLE_MILLIS); // the compiler may still have work
        final boolean quiet = look(pair, contender);
        firstCalls(pair, contender);
        passed &= quiet || contender != Contender.ring;
      }
    }
    out.println(marks.line());
    return passed ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
  }

  /** Measures the processor time of two idle processes; returns whether it is within the limit. */
  private boolean look(Pair pair, Contender contender) throws IOException, InterruptedException {
    final ProcessUse client = ProcessUse.of(pair.client(contender).pid());
    final ProcessUse server = ProcessUse.of(pair.server().pid());
    final long startNs = System.nanoTime();
    pause(TimeUnit.SECONDS.toMillis(seconds));
    final ProcessUse clientUse = ProcessUse.of(pair.client(contender).pid()).since(client);
    final ProcessUse serverUse = ProcessUse.of(pair.server().pid()).since(server);
    final double cpu =
        (clientUse.cpuNs() + serverUse.cpuNs()) / (double) (System.nanoTime() - startNs);
    final long switches = clientUse.switches(false) + serverUse.switches(false);
    out.printf("%s, connected and idle for %d s%n", contender, seconds);
    print("client", clientUse);
    print("server", serverUse);
    final boolean quiet = cpu < MAX_CPU && switches < MAX_SWITCHES;
    out.printf(
        Locale.ROOT,
        "  together %.3f %% of a core (bar: 1 %%); %d voluntary switches of their threads (bar:"
            + " fewer than %d), beside %d of the JVMs' own: %s%n",
        100 * cpu,
        switches,
        MAX_SWITCHES,
        clientUse.switches(true) + serverUse.switches(true),
        quiet ? "under the bars" : "OVER");
    return quiet;
  }

  private void print(String name, ProcessUse use) {
    use.threads().values().stream()
        .filter(thread -> thread.switches() > 0)
        .forEach(
            thread ->
                out.printf(
                    Locale.ROOT,
                    "  %s  %-16s %5d switches %8.3f ms%s%n",
                    name,
                    thread.name(),
                    thread.switches(),
                    1_000 * thread.cpuNs() / NS_PER_S,
                    thread.isJvm() ? "  (of the JVM)" : ""));
  }

  private void firstCalls(Pair pair, Contender contender) throws InterruptedException {
    final double[] latencies = new double[repetitions];
    for (int i = 0; i < repetitions; i++) {
      latencies[i] =
          marks.counted(
              Costed.measure(
                  pair.client(contender), pair.server(), () -> callAfterPause(pair, contender)));
    }
    out.printf(
        "  first call after %d ms of idling, us: %s, %d times%n%n",
        pauseMillis, Spread.of(latencies).text(1), repetitions);
  }

  private double callAfterPause(Pair pair, Contender contender) throws InterruptedException {
    pause(pauseMillis);
    return pair.ask(contender, "calls", 1).figure("p50");
  }

  /** Lets time pass: this is the measured interval, not a wait for something. */
  static void pause(long millis) throws InterruptedException {
    final boolean unused = new CountDownLatch(1).await(millis, TimeUnit.MILLISECONDS);
  }
}
