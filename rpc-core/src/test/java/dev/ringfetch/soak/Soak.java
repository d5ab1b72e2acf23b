package dev.ringfetch.soak;

import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import dev.ringfetch.soak.Fleet.Role;
import dev.ringfetch.system.Await;
import dev.ringfetch.system.Tree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Kills and stops servers and clients by a schedule that a seed draws, and checks after every fault
 * that all calls have ended, that everybody is on a ring again, and that nothing is left of the
 * dead. Run by {@code rpc-core/src/test/soak/run}.
 */
final class Soak {
  private static final int CHECK_LEAKS_EVERY = 20;

  private final Fleet fleet;
  private final Invariants invariants;
  private final Random random;
  private int kills;
  private int stops;
  private long longestMs;

  private Soak(Fleet fleet, Random random) {
    this.fleet = fleet;
    this.invariants = new Invariants(fleet);
    this.random = random;
  }

  /** What the command takes. */
  @Command(
      name = "soak/run",
      mixinStandardHelpOptions = true,
      sortOptions = false,
      description = "Kills and stops servers and clients under load.")
  private static final class Arguments implements Callable<Integer> {
    @Option(names = "--kills", description = "How many, at least 1. Default: ${DEFAULT-VALUE}.")
    private int kills = 1_000;

    @Option(names = "--seed", description = "Of what is struck, and when. Default: the clock.")
    private long seed = System.nanoTime();

    @Option(
        names = "--shm-directory",
        description = "Where memory is shared. Default: ${DEFAULT-VALUE}.")
    private Path shm = Path.of("/dev/shm");

    @Option(names = "--logs", description = "Where processes log. Default: ${DEFAULT-VALUE}.")
    private Path logs = Path.of("target", "soak");

    @Spec private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
      if (kills < 1) {
        throw new ParameterException(spec.commandLine(), "--kills: at least 1");
      }
      if (!Files.isWritable(shm)) {
        throw new ParameterException(spec.commandLine(), "--shm-directory: cannot write to " + shm);
      }
      return soak(kills, seed, shm, logs);
    }
  }

  public static void main(String[] args) {
    System.exit(new CommandLine(new Arguments()).execute(args));
  }

  private static int soak(int kills, long seed, Path shm, Path logs) throws IOException {
    System.out.println("soak: kills=" + kills + " seed=" + seed + " logs=" + logs);
    Files.createDirectories(logs);
    final Path directory = Files.createTempDirectory(shm, "rf-soak-");
    int status = 0;
    try {
      final Random random = new Random(seed);
      try (Fleet fleet = new Fleet(directory, logs, random)) {
        new Soak(fleet, random).run(kills, seed);
      }
      final RingChannel next = // the next process sweeps
          RingChannelBuilder.forAddress("localhost", 1)
              .usePlaintext()
              .shmDirectory(directory)
              .build()
              .shutdownNow();
      if (!next.awaitTermination(10, TimeUnit.SECONDS)) {
        throw new AssertionError("a channel that has done nothing does not end");
      }
      if (!Tree.files(directory).isEmpty()) {
        throw new AssertionError("left by the dead: " + Tree.files(directory));
      }
    } catch (Throwable t) { // told with what it takes to repeat it
      t.printStackTrace();
      System.out.println("soak: FAILED seed=" + seed);
      status = 1;
    }
    delete(directory);
    return status;
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> tree = Files.walk(directory)) {
      for (final Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }

  private void run(int limit, long seed) throws Exception {
    final long startNs = System.nanoTime();
    for (final Role role : Role.values()) {
      fleet.start(role);
    }
    invariants.afterFault(System.nanoTime(), List.of());
    invariants.begin();
    for (int round = 0; kills < limit; round++) {
      final Fault fault = Fault.next(random);
      final long ms = strike(fault);
      longestMs = Math.max(longestMs, ms);
      System.out.printf(
          "soak: round=%d %s micros=%d %s recovered in %d ms; kills=%d stops=%d calls=%d %d s%n",
          round,
          fault.kind(),
          fault.micros(),
          fault.victims(),
          ms,
          kills,
          stops,
          invariants.calls(),
          Await.millisSince(startNs) / 1_000);
      if (round % CHECK_LEAKS_EVERY == CHECK_LEAKS_EVERY - 1) {
        invariants.checkLeaks();
      }
    }
    invariants.checkLeaks();
    System.out.printf(
        "soak: kills=%d stops=%d calls=%d failed=%d leaked=%d longest=%d ms seconds=%d seed=%d%n",
        kills,
        stops,
        invariants.calls(),
        invariants.failed(),
        invariants.leaked(),
        longestMs,
        Await.millisSince(startNs) / 1_000,
        seed);
  }

  /** Lets a fault happen, repairs it, and checks. Returns how long the check waited. */
  private long strike(Fault fault) throws Exception {
    final List<Role> victims = fault.victims();
    if (fault.kind().kills(1) > 0) {
      for (final Role victim : victims) {
        invariants.beforeKill(victim);
      }
    }
    switch (fault.kind()) {
      case KILL -> kill(victims);
      case KILL_YOUNG -> {
        kill(victims);
        start(victims);
        pause(fault.micros());
        kill(victims);
      }
      case STOP -> stop(victims, fault.micros());
      case STOP_KILL -> {
        stop(victims, fault.micros());
        kill(victims);
      }
    }
    if (fault.kind() == Fault.Kind.STOP) {
      for (final Role victim : victims) {
        fleet.get(victim).signal("CONT");
      }
      return invariants.afterFault(System.nanoTime(), List.of());
    }
    final long sinceNs = System.nanoTime();
    start(victims);
    return invariants.afterFault(sinceNs, victims);
  }

  private void stop(List<Role> victims, int micros) throws Exception {
    for (final Role victim : victims) {
      fleet.get(victim).signal("STOP");
      stops++;
    }
    pause(micros);
  }

  private void kill(List<Role> victims) {
    for (final Role victim : victims) {
      fleet.get(victim).kill();
      kills++;
    }
  }

  /** In the order of the roles: a server before its clients. */
  private void start(List<Role> victims) throws Exception {
    for (final Role role : Role.values()) {
      if (victims.contains(role)) {
        fleet.start(role);
      }
    }
  }

  /** The time that the fault lasts, or comes after: a part of the schedule. */
  private static void pause(int micros) {
    final long endNs = System.nanoTime() + micros * 1_000L;
    for (long left = micros * 1_000L; left > 0; left = endNs - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }
}
