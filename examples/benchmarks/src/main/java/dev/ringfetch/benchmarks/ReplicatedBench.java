package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.replicated.ReplicatedSide;
import dev.ringfetch.benchmarks.stores.Mix;
import dev.ringfetch.examples.cluster.ClusterFailure;
import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.Machine;
import dev.ringfetch.examples.load.Spread;
import dev.ringfetch.examples.process.ChildFailure;
import dev.ringfetch.index.FabricName;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * A benchmark of stores whose entries three processes have: an index on one node and on three, by
 * calls, one-sidedly and on disks, beside etcd and Hazelcast. Each side has a client's process of
 * its own.
 */
@Command(
    name = "replicated",
    modelTransformer = RunOptions.Adding.class,
    mixinStandardHelpOptions = true,
    description = {
      "Measures an index on one node and on three, beside three members of etcd, if it",
      "is installed, and of Hazelcast: puts, gets, processor time of members, and",
      "fail-over after kill -9. 16-byte keys, 32-byte values. Sides take turns."
    },
    footer = "The last lines are for scripts.")
final class ReplicatedBench implements Callable<Integer> {
  private static final long SEED = 20_261_127;

  private final PrintStream out = System.out;
  private final List<String> results = new ArrayList<>();

  @Mixin
  private final RunOptions options =
      new RunOptions()
          .withQuick("Two minutes: fewer and shorter rounds, fewer kills.")
          .withRounds(5, 3)
          .withMillis(1000, 300)
          .withWarmUp("Milliseconds of puts and of gets. Default: %s.", 4000, 1000);

  @Option(
      names = "--threads",
      split = ",",
      paramLabel = "N",
      description = "That put or get, a row each. Default: 1,16.")
  private List<Integer> threads = List.of(1, 16);

  @Option(names = "--entries", paramLabel = "N", description = "Of each store. Default: 10000.")
  private int entries = 10_000;

  @Option(
      names = "--kills",
      paramLabel = "N",
      description = "Of each leader; 0: none. Default: 5, 2 if quick.")
  private Integer kills;

  @Option(
      names = "--sides",
      split = ",",
      paramLabel = "SIDE",
      description = "${COMPLETION-CANDIDATES}. Default: all.")
  private List<ReplicatedSide> sides = List.of(ReplicatedSide.values());

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "On the disk that is measured. Default: temporary.")
  private Path data = Path.of(System.getProperty("java.io.tmpdir"));

  @Option(
      names = "--fabric",
      paramLabel = "NAME",
      converter = FabricName.class,
      description = "Of nodes and clients of Ringfetch: shm, verbs. Default: all.")
  private String fabric = "";

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws IOException {
    if (!Files.isDirectory(data) || !Files.isWritable(data)) {
      throw new ParameterException(
          spec.commandLine(), "--data is no directory that this user may write to: " + data);
    }
    Machine.print(out);
    final Timing timing = new Timing(options.rounds(), options.millis(), options.warmUp());
    try (ReplicatedRun run =
        ReplicatedRun.create(timing, entries, Long.getLong("ringfetch.seed", SEED), data, fabric)) {
      start(run);
      measure(run);
    } catch (ChildFailure | ClusterFailure e) {
      throw new IOException(e.getMessage(), e);
    } finally {
      out.println();
      results.forEach(out::println);
    }
    return CommandLine.ExitCode.OK;
  }

  private void start(ReplicatedRun run) throws IOException {
    for (final ReplicatedSide side : sides) {
      final String obstacle = run.add(side);
      if (!obstacle.isEmpty()) {
        out.println("left out: " + side.text() + ": " + obstacle);
      }
    }
    if (run.sides().isEmpty()) {
      throw new IOException("no side takes part");
    }
    for (final ReplicatedSide side : run.sides()) {
      out.printf(
          "%-10s %d %s, level %s%n",
          side.text(), side.members(), side.members() == 1 ? "process" : "processes", side.level());
    }
    out.printf(
        "%,d entries; %d rounds of %d ms by turns, median [least .. most]; etcd syncs each put to"
            + " disk: compare it with level disk%n",
        entries, options.rounds(), options.millis());
  }

  private void measure(ReplicatedRun run) throws IOException {
    for (final ReplicatedSide side : run.sides()) {
      for (final Mix mix : List.of(Mix.put, Mix.get)) {
        run.warmUp(side, mix, Collections.max(threads));
      }
    }
    final Map<ReplicatedSide, Spread> idle = idle(run.idle());
    for (final Mix mix : List.of(Mix.put, Mix.get)) {
      for (final int count : threads) {
        print(mix, count, run.measure(mix, count), idle);
      }
    }
    if (run.sides().contains(ReplicatedSide.oneSided)) {
      direct(run);
    }
    final int count = options.or(kills, 5, 2);
    if (count > 0) {
      failOver(run, count);
    }
  }

  /** Prints what idle members use; returns that of one that leads nothing. */
  private Map<ReplicatedSide, Spread> idle(Map<ReplicatedSide, List<ReplicatedRound>> measured) {
    final Map<ReplicatedSide, Spread> followers = new EnumMap<>(ReplicatedSide.class);
    out.printf("%nidle: processor time in ms a second%n");
    measured.forEach(
        (side, rounds) -> {
          final Spread members = Spread.of(rounds, round -> round.membersUs() / 1_000);
          final Spread follower = Spread.of(rounds, round -> round.followerUs() / 1_000);
          followers.put(side, follower);
          out.printf(
              "  %-10s all members %s%s%n",
              side.text(),
              members.text(2),
              side.followers() == 0 ? "" : "  a follower " + follower.text(2));
          result(
              "row=replicated-idle side=%s members_ms_s=%.2f%s",
              side.text(),
              members.median(),
              side.followers() == 0 ? "" : " follower_ms_s=" + number(follower.median()));
        });
    return followers;
  }

  private void print(
      Mix mix,
      int count,
      Map<ReplicatedSide, List<ReplicatedRound>> measured,
      Map<ReplicatedSide, Spread> idle) {
    out.printf("%n%s, %d %s%n", mix, count, count == 1 ? "thread" : "threads");
    measured.forEach(
        (side, rounds) -> {
          final Spread p50 = Spread.of(rounds, ReplicatedRound::p50Us);
          final Spread p99 = Spread.of(rounds, ReplicatedRound::p99Us);
          final Spread rate = Spread.of(rounds, ReplicatedRound::perSecond);
          final Spread members = Spread.of(rounds, ReplicatedRound::membersUs);
          out.printf(
              "  %-10s p50 us %s  p99 us %s  per s %s%n             processor us: all members %s",
              side.text(), p50.text(1), p99.text(1), rate.text(0), members.text(2));
          final StringBuilder more = new StringBuilder();
          if (side.followers() > 0) {
            final Spread follower = Spread.of(rounds, ReplicatedRound::followerUs);
            final double idleUs = idle.get(side).median() * 1_000;
            final Spread beyond =
                Spread.of(rounds, round -> round.followerUs() - idleUs / round.perSecond());
            out.printf("  a follower %s, beyond idling %s", follower.text(2), beyond.text(2));
            more.append(" follower_us=").append(number(follower.median()));
            more.append(" follower_beyond_idle_us=").append(number(beyond.median()));
          }
          out.println();
          result(
              "row=replicated-%s-%d side=%s level=%s p50_us=%.1f p99_us=%.1f per_s=%.0f"
                  + " per_s_least=%.0f per_s_most=%.0f members_us=%.2f%s",
              mix,
              count,
              side.text(),
              side.level(),
              p50.median(),
              p99.median(),
              rate.median(),
              rate.least(),
              rate.most(),
              members.median(),
              more);
        });
  }

  private void direct(ReplicatedRun run) throws IOException {
    final Timing timing = new Timing(options.rounds(), options.millis(), options.warmUp());
    try (DirectGets gets = run.directGets(ReplicatedSide.oneSided)) {
      for (final int count : threads) {
        print(count, gets.measure(timing, count));
      }
    }
  }

  private void print(int count, Map<DirectGets.Of, List<Figures>> measured) {
    out.printf("%nget in memory, %d %s%n", count, count == 1 ? "thread" : "threads");
    final List<Figures> single = measured.get(DirectGets.Of.server);
    measured.forEach(
        (of, rounds) -> {
          final Spread p50 = Spread.of(rounds, Figures::p50Us);
          final Spread p99 = Spread.of(rounds, Figures::p99Us);
          final Spread rate = Spread.of(rounds, Figures::perSecond);
          final Spread time = Spread.ofRatios(single, rounds, Figures::perSecond);
          out.printf(
              "  %-10s p50 us %s  p99 us %s  per s %s  time by the server's %s%n",
              of, p50.text(2), p99.text(2), rate.text(0), time.text(2));
          result(
              "row=replicated-direct-%d side=%s p50_us=%.2f p99_us=%.2f per_s=%.0f"
                  + " time_by_server=%.3f",
              count, of, p50.median(), p99.median(), rate.median(), time.median());
        });
  }

  private void failOver(ReplicatedRun run, int count) throws IOException {
    out.printf("%nfail-over: ms from kill -9 to the first acknowledged put, %d kills%n", count);
    final Map<ReplicatedSide, List<Double>> measured = new EnumMap<>(ReplicatedSide.class);
    for (int i = 0; i < count; i++) {
      for (final ReplicatedSide side : run.sides()) {
        if (side.members() > 1) {
          measured.computeIfAbsent(side, absent -> new ArrayList<>()).add(run.failOver(side));
        }
      }
    }
    measured.forEach(
        (side, millis) -> {
          final double median =
              Figures.median(millis.stream().mapToDouble(Double::doubleValue).toArray());
          out.printf(
              Locale.ROOT,
              "  %-10s median %,.0f  worst %,.0f%n",
              side.text(),
              median,
              Collections.max(millis));
          result(
              "row=replicated-fail-over side=%s kills=%d median_ms=%.1f worst_ms=%.1f",
              side.text(), count, median, Collections.max(millis));
        });
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }

  private void result(String format, Object... arguments) {
    results.add("RESULT " + String.format(Locale.ROOT, format, arguments));
  }
}
