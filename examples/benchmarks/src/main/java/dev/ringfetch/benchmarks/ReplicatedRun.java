package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.replicated.ReplicatedSide;
import dev.ringfetch.benchmarks.replicated.ReplicatedStore;
import dev.ringfetch.benchmarks.stores.Mix;
import dev.ringfetch.benchmarks.stores.StoreClient;
import dev.ringfetch.examples.cluster.ClusterFailure;
import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.ProcessUse;
import dev.ringfetch.examples.load.Turns;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildFailure;
import dev.ringfetch.examples.process.ChildProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * One run of {@link ReplicatedBench}: the members and the client of each side, and a folder for
 * what they write to disk. Closing it ends and deletes all; so does a signal that ends this
 * process. Used by one thread.
 */
final class ReplicatedRun implements AutoCloseable {
  /** The entry that is put while its leader is killed. */
  private static final int KILLED_ENTRY = 0;

  private static final List<String> CLIENT_FLAGS = List.of("-Xmx512m");
  private static final int REST_MILLIS = 3_000;
  private static final double NS_PER_US = 1_000;

  private final Timing timing;
  private final int entries;
  private final long seed;
  private final Path folder;
  private final String fabric;
  private final Map<ReplicatedSide, Contender> contenders = new EnumMap<>(ReplicatedSide.class);
  private final Thread hook = new Thread(this::end, "end-of-bench");
  private boolean ended;

  private record Contender(ReplicatedStore store, ChildProcess client) {
    void end() {
      client.close();
      store.close();
    }
  }

  private ReplicatedRun(Timing timing, int entries, long seed, Path folder, String fabric) {
    this.timing = timing;
    this.entries = entries;
    this.seed = seed;
    this.folder = folder;
    this.fabric = fabric;
  }

  /**
   * Creates it; nothing runs yet.
   *
   * @param entries of each store.
   * @param seed of what is drawn.
   * @param data folder on the disk that is measured.
   * @param fabric that Ringfetch's processes have, by its name; empty: all.
   */
  static ReplicatedRun create(Timing timing, int entries, long seed, Path data, String fabric)
      throws IOException {
    final ReplicatedRun run =
        new ReplicatedRun(
            timing,
            entries,
            seed,
            Files.createTempDirectory(data.toAbsolutePath(), "ringfetch-bench-replicated-"),
            fabric);
    Runtime.getRuntime().addShutdownHook(run.hook);
    return run;
  }

  /**
   * Starts a side, loads its entries and warms it up.
   *
   * @return why it cannot take part; empty if it does.
   */
  String add(ReplicatedSide side) {
    if (!side.obstacle().isEmpty()) {
      return side.obstacle();
    }
    try {
      final ReplicatedStore store = side.start(folder, fabric);
      boolean loaded = false;
      try {
        load(side, store);
        loaded = true;
      } finally {
        if (!loaded) {
          store.close();
        }
      }
      return "";
    } catch (IOException | ChildFailure | ClusterFailure e) {
      return String.valueOf(e.getMessage());
    }
  }

  private void load(ReplicatedSide side, ReplicatedStore store) throws IOException {
    final ChildProcess client =
        StoreClient.start(store.kind(), entries, seed, store.target(), CLIENT_FLAGS);
    boolean complete = false;
    try {
      checked(client.ask("load", 0, entries));
      store.awaitWhole();
      complete = true;
    } finally {
      if (!complete) {
        client.close();
      }
    }
    begin(side, new Contender(store, client));
  }

  private synchronized void begin(ReplicatedSide side, Contender contender) {
    if (ended) { // by a signal
      contender.end();
    } else {
      contenders.put(side, contender);
    }
  }

  /** An answer in which nothing is wrong. */
  static Answer checked(Answer answer) throws IOException {
    if (answer.count("wrong") != 0) {
      throw new IOException("wrong answers: " + answer.count("wrong"));
    }
    return answer;
  }

  /** The sides that take part. */
  List<ReplicatedSide> sides() {
    return List.copyOf(contenders.keySet());
  }

  /** Warms a side up by operations of this kind. */
  void warmUp(ReplicatedSide side, Mix mix, int threads) throws IOException {
    final var unused =
        checked(contenders.get(side).client.ask("run", mix, threads, true, timing.warmUp()));
  }

  /** Starts gets out of memory: of a single server, and of the leader of a side that takes part. */
  DirectGets directGets(ReplicatedSide side) throws IOException {
    return DirectGets.start(contenders.get(side).store.target(), entries, seed, fabric);
  }

  /** Measures the sides by turns. */
  Map<ReplicatedSide, List<ReplicatedRound>> measure(Mix mix, int threads) throws IOException {
    try {
      return Turns.take(sides(), timing.rounds(), (side, round) -> round(side, mix, threads));
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private ReplicatedRound round(ReplicatedSide side, Mix mix, int threads) {
    final Contender contender = contenders.get(side);
    try {
      final long leader = contender.store.leader(KILLED_ENTRY);
      final Map<Long, ProcessUse> before = uses(contender.store);
      final Figures figures =
          Figures.parse(checked(contender.client.ask("run", mix, threads, true, timing.millis())));
      final Map<Long, Long> usedNs = usedSince(before);
      final double perCall = NS_PER_US * Math.max(1, figures.calls());
      return new ReplicatedRound(
          figures, sum(usedNs) / perCall, ofFollower(side, leader, usedNs) / perCall);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Map<Long, ProcessUse> uses(ReplicatedStore store) throws IOException {
    final Map<Long, ProcessUse> uses = new HashMap<>();
    for (final long process : store.processes()) {
      uses.put(process, ProcessUse.of(process));
    }
    return uses;
  }

  /** Without the compilers, which come to rest later than a benchmark waits for them. */
  private static Map<Long, Long> usedSince(Map<Long, ProcessUse> before) throws IOException {
    final Map<Long, Long> usedNs = new HashMap<>();
    for (final Map.Entry<Long, ProcessUse> each : before.entrySet()) {
      final ProcessUse used = ProcessUse.of(each.getKey()).since(each.getValue());
      usedNs.put(each.getKey(), used.cpuNs() - used.compilersNs());
    }
    return usedNs;
  }

  private static double sum(Map<Long, Long> usedNs) {
    return usedNs.values().stream().mapToLong(Long::longValue).sum();
  }

  private static double ofFollower(ReplicatedSide side, long leader, Map<Long, Long> usedNs) {
    return side.followers() == 0
        ? Double.NaN
        : (sum(usedNs) - usedNs.getOrDefault(leader, 0L)) / side.followers();
  }

  /**
   * Measures what members use while nothing is asked of any side.
   *
   * @return processor time of all members and of one that leads nothing, as {@link ReplicatedRound}
   *     has it, in microseconds a second; one for each round.
   */
  Map<ReplicatedSide, List<ReplicatedRound>> idle() throws IOException {
    rest(REST_MILLIS);
    final Map<ReplicatedSide, List<ReplicatedRound>> rounds = new EnumMap<>(ReplicatedSide.class);
    for (int i = 0; i < timing.rounds(); i++) {
      final Map<ReplicatedSide, Map<Long, ProcessUse>> before = new EnumMap<>(ReplicatedSide.class);
      final Map<ReplicatedSide, Long> leaders = new EnumMap<>(ReplicatedSide.class);
      for (final ReplicatedSide side : sides()) {
        leaders.put(side, contenders.get(side).store.leader(KILLED_ENTRY));
      }
      for (final ReplicatedSide side : sides()) {
        before.put(side, uses(contenders.get(side).store));
      }
      final long beginNs = System.nanoTime();
      rest(timing.millis());
      final double elapsedUs = (System.nanoTime() - beginNs) / NS_PER_US;
      for (final ReplicatedSide side : sides()) {
        final Map<Long, Long> usedNs = usedSince(before.get(side));
        final double scale = TimeUnit.SECONDS.toMicros(1) / elapsedUs / NS_PER_US;
        rounds
            .computeIfAbsent(side, absent -> new ArrayList<>())
            .add(
                new ReplicatedRound(
                    new Figures(0, 0, 0, 0, 0),
                    sum(usedNs) * scale,
                    ofFollower(side, leaders.get(side), usedNs) * scale));
      }
    }
    return rounds;
  }

  private static void rest(int millis) throws IOException {
    try {
      TimeUnit.MILLISECONDS.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  /**
   * Kills the process that leads, and starts it again.
   *
   * @return milliseconds from the signal to the first acknowledged put.
   */
  double failOver(ReplicatedSide side) throws IOException {
    final Contender contender = contenders.get(side);
    contender.store.awaitWhole();
    final long leader = contender.store.leader(KILLED_ENTRY);
    contender.store.expectEnd(leader);
    final double millis = contender.client.ask("fail-over", leader, KILLED_ENTRY).figure("millis");
    contender.store.restart(leader);
    contender.store.awaitWhole();
    return millis;
  }

  private synchronized void end() {
    if (ended) {
      return;
    }
    ended = true;
    for (final Contender contender : contenders.values()) {
      try {
        contender.end();
      } catch (ChildFailure | ClusterFailure e) {
        System.err.println("bench replicated: not all has ended: " + e.getMessage());
      }
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (final Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException | UncheckedIOException e) {
      System.err.println("bench replicated: cannot delete " + folder + ": " + e.getMessage());
    }
  }

  @Override
  public void close() {
    end();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // It runs: by a signal.
    }
  }
}
