package dev.ringfetch.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ringfetch.system.HostilePeer.Manner;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What a hostile process costs a well-behaved one on the same poller: its throughput and its p99
 * beside the hostile process, against those beside a benign process that burns as much processor
 * time. Rounds with the one and with the other take turns, either first; the median of the rounds'
 * ratios counts, so that a machine that is busy otherwise is so for both; where other processes
 * take more than a tenth of it, a round does not count.
 *
 * <p>{@code ringfetch.rounds} and {@code ringfetch.round.ms} set how many and how long.
 */
@Tag("timing")
@Timeout(300)
class HostileNeighbourTest {
  private static final int ROUNDS = Integer.getInteger("ringfetch.rounds", 9);
  private static final int ROUND_MS = Integer.getInteger("ringfetch.round.ms", 1_000);
  private static final int SESSIONS = 20;
  private static final int MAX_DROPPED = 2 * ROUNDS;
  private static final double MAX_FOREIGN = 0.1; // of all cores
  private static final double MIN_THROUGHPUT = 0.8;
  private static final double MAX_P99 = 2;

  @TempDir(factory = ShmTempDirFactory.class)
  static Path directory;

  private static SystemChild server;
  private static SystemChild neighbour;
  private static SystemChild burner;
  private static int port;

  private double burnt; // by the hostile one, last time

  @BeforeAll
  static void start() throws Exception {
    server = SystemChild.serverOf(directory, SESSIONS);
    port = Integer.parseInt(server.readLine());
    neighbour = SystemChild.caller(directory, port);
    assertEquals("connected", neighbour.readLine());
    burner = SystemChild.burner(directory);
    assertEquals("burning", burner.readLine());
    measure(5 * ROUND_MS); // until it is warm
  }

  @AfterAll
  static void stop() {
    burner.close();
    neighbour.close();
    server.close();
  }

  private static Latencies measure(int millis) throws Exception {
    return Latencies.parse(neighbour.ask("measure " + millis));
  }

  private static Duration cpuTime(SystemChild child) {
    return ProcessHandle.of(child.pid()).orElseThrow().info().totalCpuDuration().orElseThrow();
  }

  @ParameterizedTest
  @EnumSource
  void costsNoMoreThanABenignOne(Manner manner) throws Exception {
    final List<Round> rounds = new ArrayList<>();
    int dropped = 0;
    final String seed;
    final long sessions;
    try (SystemChild hostile = SystemChild.hostile(directory, port, manner)) {
      seed = hostile.readLine();
      burnt = besideHostile(hostile).burnt(); // what it calls in the server is compiled by then
      while (rounds.size() < ROUNDS && dropped < MAX_DROPPED) {
        final Round round = round(hostile, rounds.size() % 2 == 0);
        if (round.foreign() > MAX_FOREIGN) {
          dropped++;
          System.out.println("dropped:" + round);
        } else {
          rounds.add(round);
        }
      }
      sessions = hostile.count("sessions");
    }
    Await.until("the end of its sessions", 60, () -> server.count("sessions") == 1);
    final double throughput = median(rounds, Round::throughput);
    final double p99 = median(rounds, Round::p99);
    System.out.printf(
        Locale.ROOT,
        "hostile: %s %s sessions=%d rounds=%d dropped=%d throughput=%.2f p99=%.2f%n",
        manner,
        seed,
        sessions,
        rounds.size(),
        dropped,
        throughput,
        p99);
    rounds.forEach(System.out::println);
    assumeTrue(
        rounds.size() == ROUNDS, "other processes keep the machine busy: dropped=" + dropped);
    assertTrue(throughput >= MIN_THROUGHPUT, () -> seed + " throughput=" + throughput);
    assertTrue(p99 <= MAX_P99, () -> seed + " p99=" + p99);
  }

  /** With the hostile process and with one that burns what it burns; either comes first in turn. */
  private Round round(SystemChild hostile, boolean hostileFirst) throws Exception {
    final Cores cores = new Cores(List.of(server, neighbour, burner, hostile));
    final Side beside;
    final Latencies alone;
    if (hostileFirst) {
      beside = besideHostile(hostile);
      hostile.signal("STOP");
      alone = besideBenign(beside.burnt());
    } else {
      hostile.signal("STOP");
      alone = besideBenign(burnt);
      hostile.signal("CONT");
      beside = besideHostile(hostile);
    }
    hostile.signal("CONT");
    burnt = beside.burnt();
    return new Round(beside, alone, cores.foreign());
  }

  private static Side besideHostile(SystemChild hostile) throws Exception {
    final Duration before = cpuTime(hostile);
    final Duration serverBefore = cpuTime(server);
    final long startNs = System.nanoTime();
    final Latencies latencies = measure(ROUND_MS);
    final double elapsedNs = System.nanoTime() - startNs;
    return new Side(
        latencies,
        cpuTime(hostile).minus(before).toNanos() / elapsedNs,
        cpuTime(server).minus(serverBefore).toNanos() / elapsedNs);
  }

  private static Latencies besideBenign(double cores) throws Exception {
    burner.ask(Long.toString(Math.round(1_000 * cores)));
    final Latencies latencies = measure(ROUND_MS);
    burner.ask("0");
    return latencies;
  }

  /**
   * Beside the hostile process.
   *
   * @param burnt cores that it took.
   * @param serving cores that the server took.
   */
  private record Side(Latencies latencies, double burnt, double serving) {}

  /**
   * One of each.
   *
   * @param foreign share of all cores that other processes took, in both.
   */
  private record Round(Side beside, Latencies alone, double foreign) {
    double throughput() {
      return (double) beside.latencies().perSecond() / alone.perSecond();
    }

    double p99() {
      return (double) beside.latencies().p99Ns() / alone.p99Ns();
    }

    @Override
    public String toString() {
      return String.format(
          Locale.ROOT,
          "  cores=%.2f server=%.2f foreign=%.2f hostile: %d/s p99=%d us benign: %d/s p99=%d us",
          beside.burnt(),
          beside.serving(),
          foreign,
          beside.latencies().perSecond(),
          beside.latencies().p99Ns() / 1000,
          alone.perSecond(),
          alone.p99Ns() / 1000);
    }
  }

  private static double median(List<Round> rounds, ToDoubleFunction<Round> value) {
    return rounds.isEmpty()
        ? Double.NaN
        : rounds.stream().mapToDouble(value).sorted().toArray()[rounds.size() / 2];
  }
}
