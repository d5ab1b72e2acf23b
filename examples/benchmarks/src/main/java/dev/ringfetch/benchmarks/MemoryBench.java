package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.memory.MemoryOwner;
import dev.ringfetch.benchmarks.memory.MemoryReader;
import dev.ringfetch.benchmarks.stores.NativeServer;
import dev.ringfetch.examples.load.Machine;
import dev.ringfetch.examples.load.Spread;
import dev.ringfetch.examples.load.Turns;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.TemporaryDirectory;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
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

/** A benchmark of memory that programs share, beside Aeron, an in-process lock and Redis. */
@Command(
    name = "memory",
    modelTransformer = RunOptions.Adding.class,
    mixinStandardHelpOptions = true,
    description = "Reads values and messages of another process, and takes its locks.")
final class MemoryBench implements Callable<Integer> {
  private static final Path SHARED_MEMORY = Path.of("/dev/shm");
  private static final int MESSAGES = 4000; // 192 KiB of our ring, 256 KiB of Aeron's

  /** Of a JVM in which Agrona's buffers work. */
  private static final List<String> AGRONA_FLAGS =
      List.of("--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED");

  private final PrintStream out = System.out;
  private final Map<What, Spread> measured = new EnumMap<>(What.class);
  private ChildProcess owner;
  private ChildProcess reader;

  @Mixin
  private final RunOptions options =
      new RunOptions()
          .withRounds(7)
          .withMillis(300)
          .withWarmUp("Milliseconds of each before the first round. Default: %s.", 1500);

  /** The pairs of a measured object and its peer. */
  private enum What {
    counter("counter", false, true, null),
    value("value", false, true, counter),
    word("word", false, true, counter),
    counterWritten("counter", true, true, null),
    valueWritten("value", true, true, counterWritten),
    aeron("aeron", false, true, null),
    broadcast("broadcast", false, true, aeron),
    threadLock("thread-lock", false, false, null),
    ownerLock("lock", false, false, threadLock),
    redis("redis", false, true, null),
    remoteLock("lock", false, true, redis);

    final String command;
    final boolean isWritten; // by the owner meanwhile
    final boolean atReader;
    final What peer; // null for a peer itself

    What(String command, boolean isWritten, boolean atReader, What peer) {
      this.command = command;
      this.isWritten = isWritten;
      this.atReader = atReader;
      this.peer = peer;
    }

    boolean isStream() {
      return this == aeron || this == broadcast;
    }
  }

  @Override
  public Integer call() throws IOException {
    Machine.print(out);
    final Optional<Path> redis = NativeServer.find("redis-server");
    try (TemporaryDirectory directory = new TemporaryDirectory(SHARED_MEMORY, "bench-memory-")) {
      final Path socket = directory.path().resolve("redis");
      try (NativeServer server =
          redis.isPresent() ? NativeServer.redis(redis.get(), socket) : null) {
        start(directory.path(), server == null ? null : socket);
        measure(server != null);
      } finally {
        if (reader != null) {
          reader.close();
        }
        if (owner != null) {
          owner.close();
        }
      }
    }
    return CommandLine.ExitCode.OK;
  }

  private void start(Path directory, Path redis) throws IOException {
    owner = ChildProcess.start(AGRONA_FLAGS, MemoryOwner.class, List.of(directory.toString()));
    final List<String> arguments = new ArrayList<>(List.of(directory.toString(), owner.readLine()));
    if (redis != null) {
      arguments.add(redis.toString());
    }
    reader = ChildProcess.start(AGRONA_FLAGS, MemoryReader.class, arguments);
  }

  private void measure(boolean hasRedis) {
    final List<What> all = new ArrayList<>(List.of(What.values()));
    if (!hasRedis) {
      out.println("no redis-server on the path: its locks are left out");
      all.remove(What.redis);
    }
    all.forEach(what -> measure(what, options.warmUp()));
    out.printf(
        "ns an operation or message; %d rounds of %d ms, by turns; median [least .. most]%n",
        options.rounds(), options.millis());
    final Map<What, List<Double>> rounds =
        Turns.take(all, options.rounds(), (what, round) -> measure(what, options.millis()));
    rounds.forEach((what, figures) -> measured.put(what, Spread.of(figures, ns -> ns)));
    for (final What what : all) {
      final Spread spread = measured.get(what);
      final Spread peer = what.peer == null ? null : measured.get(what.peer);
      out.printf("%-16s %-34s%n", what, spread.text(1));
      out.printf(
          Locale.ROOT,
          "RESULT memory=%s ns=%.1f best=%.1f%s%n",
          what,
          spread.median(),
          spread.least(),
          peer == null
              ? ""
              : String.format(
                  Locale.ROOT, " of_%s=%.2f", what.peer, spread.median() / peer.median()));
    }
  }

  private double measure(What what, int millis) {
    final ChildProcess side = what.atReader ? reader : owner;
    if (what.isStream()) {
      return measureStream(what, millis);
    }
    if (!what.isWritten) {
      return side.ask(what.command, millis).figure("ns");
    }
    final CompletableFuture<?> writes =
        CompletableFuture.supplyAsync(() -> owner.ask(what.command, millis));
    final double ns = side.ask(what.command, millis).figure("ns");
    writes.join();
    return ns;
  }

  /** Lets the owner publish messages, and the reader receive them, again and again. */
  private double measureStream(What what, int millis) {
    final long startNs = System.nanoTime();
    double sum = 0;
    int drains = 0;
    do {
      owner.ask(what.command, MESSAGES);
      sum += reader.ask(what.command, MESSAGES).figure("ns");
      drains++;
    } while (System.nanoTime() - startNs < millis * 1_000_000L);
    return sum / drains;
  }
}
