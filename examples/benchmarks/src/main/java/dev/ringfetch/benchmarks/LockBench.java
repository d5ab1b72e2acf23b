package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.locks.LockClient;
import dev.ringfetch.benchmarks.locks.LockKind;
import dev.ringfetch.benchmarks.stores.IndexProcess;
import dev.ringfetch.benchmarks.stores.NativeServer;
import dev.ringfetch.examples.load.Machine;
import dev.ringfetch.examples.load.Spread;
import dev.ringfetch.examples.load.Turns;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.TemporaryDirectory;
import dev.ringfetch.index.zookeeper.ZooKeeperProcess;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A benchmark of locks that processes take from each other, beside Redis and Curator. */
@Command(
    name = "locks",
    modelTransformer = RunOptions.Adding.class,
    mixinStandardHelpOptions = true,
    description = {
      "Measures how fast processes pass a lock to each other, and take one that is free:",
      "a lock in memory that programs share, one of an index, SET NX of Redis where it is",
      "installed, and Curator's mutex in ZooKeeper, whose log is in shared memory. Two",
      "holders at a time fail the run. About 2 minutes."
    },
    footer = "The last lines are for scripts.")
final class LockBench implements Callable<Integer> {
  private static final Path SHARED_MEMORY = Path.of("/dev/shm");
  private static final List<String> FLAGS = List.of("-XX:+UseSerialGC", "-Xmx256m");
  private static final long MEMORY = 64L << 20;

  private final PrintStream out = System.out;
  private final Map<LockKind, List<ChildProcess>> processes = new EnumMap<>(LockKind.class);
  private final Deque<AutoCloseable> servers = new ArrayDeque<>();
  private ChildProcess index;

  @Mixin
  private final RunOptions options =
      new RunOptions()
          .withRounds(5)
          .withMillis(1000)
          .withWarmUp("Milliseconds of each before the first round. Default: %s.", 2000);

  @Option(names = "--clients", description = "Processes. Default: ${DEFAULT-VALUE}.")
  private int clients = 2;

  @Override
  public Integer call() throws Exception {
    Machine.print(out);
    long broken = 0;
    try (TemporaryDirectory directory = new TemporaryDirectory(SHARED_MEMORY, "bench-locks-")) {
      try {
        for (final LockKind kind : LockKind.values()) {
          start(kind, directory.path());
        }
        broken += measure("free", 1);
        broken += measure("passed", clients);
      } finally {
        processes.values().forEach(each -> each.forEach(ChildProcess::close));
        for (final AutoCloseable server : servers) {
          server.close();
        }
      }
    }
    out.println("holders beside another one: " + broken);
    return broken == 0 ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
  }

  private void start(LockKind kind, Path directory) throws IOException {
    final Optional<String> target = target(kind, directory);
    if (target.isEmpty()) {
      out.println("left out: redis-server is not installed");
      return;
    }
    final List<ChildProcess> started = new ArrayList<>();
    processes.put(kind, started);
    for (int i = 1; i <= clients; i++) {
      started.add(
          LockClient.start(FLAGS, kind, target.get(), directory.resolve(kind + ".holder"), i));
    }
  }

  private Optional<String> target(LockKind kind, Path directory) throws IOException {
    return switch (kind) {
      case memory, index -> {
        if (index == null) {
          index =
              ChildProcess.start(
                  FLAGS, IndexProcess.class, List.of("--memory", Long.toString(MEMORY)));
          servers.push(index);
        }
        yield Optional.of(StoreServers.target(index));
      }
      case redis -> {
        final Optional<Path> program = NativeServer.find("redis-server");
        final Path socket = directory.resolve("redis");
        if (program.isPresent()) {
          servers.push(NativeServer.redis(program.get(), socket));
        }
        yield program.map(found -> socket.toString());
      }
      case curator -> {
        final ZooKeeperProcess started = ZooKeeperProcess.start(directory.resolve("zookeeper"), 0);
        servers.push(started);
        yield Optional.of(started.address());
      }
    };
  }

  /** Measures a row; returns how often two processes held a lock at once. */
  private long measure(String row, int count) {
    processes.keySet().forEach(kind -> run(kind, count, options.warmUp()));
    final Map<LockKind, List<List<Answer>>> rounds =
        Turns.take(
            processes.keySet(),
            options.rounds(),
            (kind, round) -> run(kind, count, options.millis()));
    out.printf(
        "%n%s: %d client(s), %d rounds of %d ms by turns; median [least .. most]%n",
        row, count, options.rounds(), options.millis());
    final Spread ours = sum(rounds.get(LockKind.memory), "perSecond");
    long broken = 0;
    for (final Map.Entry<LockKind, List<List<Answer>>> each : rounds.entrySet()) {
      final Spread holds = sum(each.getValue(), "perSecond");
      final Spread passes = Spread.of(each.getValue(), LockBench::passes);
      final Spread p50 = Spread.of(each.getValue(), all -> total(all, "p50") / all.size());
      broken += (long) each.getValue().stream().mapToDouble(all -> total(all, "broken")).sum();
      out.printf(
          "  %-8s holds/s %-28s of them from another process %3.0f %%  wait p50 us %s%n",
          each.getKey(), holds.text(0), 100 * passes.median(), p50.text(1));
      out.printf(
          Locale.ROOT,
          "RESULT row=%s lock=%s holds_s=%.0f passed=%.2f wait_p50_us=%.1f memory_by=%.2f%n",
          row,
          each.getKey(),
          holds.median(),
          passes.median(),
          p50.median(),
          ours.median() / holds.median());
    }
    return broken;
  }

  private List<Answer> run(LockKind kind, int count, int millis) {
    final List<CompletableFuture<Answer>> running =
        processes.get(kind).stream()
            .limit(count)
            .map(client -> CompletableFuture.supplyAsync(() -> client.ask("run", millis)))
            .toList();
    return running.stream().map(CompletableFuture::join).toList();
  }

  private static Spread sum(List<List<Answer>> rounds, String figure) {
    return Spread.of(rounds, answers -> total(answers, figure));
  }

  private static double total(List<Answer> answers, String figure) {
    return answers.stream().mapToDouble(answer -> answer.figure(figure)).sum();
  }

  /** The share of the holds that another process had before. */
  private static double passes(List<Answer> answers) {
    return total(answers, "passes") / total(answers, "calls");
  }
}
