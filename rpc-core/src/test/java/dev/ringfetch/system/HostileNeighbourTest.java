package dev.ringfetch.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.system.HostilePeer.Manner;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
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
 * time. Rounds with the one and with the other take turns; the median of the rounds' ratios counts,
 * so that a machine that is busy otherwise is so for both.
 *
 * <p>{@code ringfetch.rounds} and {@code ringfetch.round.ms} set how many and how long.
 */
@Tag("slow")
@Timeout(300)
class HostileNeighbourTest {
  private static final int ROUNDS = Integer.getInteger("ringfetch.rounds", 7);
  private static final int ROUND_MS = Integer.getInteger("ringfetch.round.ms", 1_000);
  private static final int SESSIONS = 20;
  private static final double MIN_THROUGHPUT = 0.8;
  private static final double MAX_P99 = 2;

  @TempDir(factory = ShmTempDirFactory.class)
  static Path directory;

  private static SystemChild server;
  private static SystemChild neighbour;
  private static SystemChild burner;
  private static int port;

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
    final List<Double> throughputs = new ArrayList<>();
    final List<Double> p99s = new ArrayList<>();
    final StringBuilder rounds = new StringBuilder();
    final String seed;
    try (SystemChild hostile = SystemChild.hostile(directory, port, manner)) {
      seed = hostile.readLine();
      measure(ROUND_MS); // what it calls in the server is compiled by then
      for (int round = 0; round < ROUNDS; round++) {
        final long startNs = System.nanoTime();
        final Duration before = cpuTime(hostile);
        final Latencies beside = measure(ROUND_MS);
        final long burnt = cpuTime(hostile).minus(before).toNanos();
        final long share = 1_000 * burnt / (System.nanoTime() - startNs);
        hostile.signal("STOP");
        burner.ask(Long.toString(share));
        final Latencies alone = measure(ROUND_MS);
        burner.ask("0");
        hostile.signal("CONT");
        throughputs.add((double) beside.perSecond() / alone.perSecond());
        p99s.add((double) beside.p99Ns() / alone.p99Ns());
        rounds.append(
            String.format(
                Locale.ROOT,
                "%n  cpu=%.2f hostile: %d/s p99=%d us; benign: %d/s p99=%d us",
                share / 1000.0,
                beside.perSecond(),
                beside.p99Ns() / 1000,
                alone.perSecond(),
                alone.p99Ns() / 1000));
      }
      System.out.printf(
          Locale.ROOT,
          "hostile: %s %s sessions=%d rounds=%d throughput=%.2f p99=%.2f%s%n",
          manner,
          seed,
          hostile.count("sessions"),
          ROUNDS,
          median(throughputs),
          median(p99s),
          rounds);
    }
    assertTrue(median(throughputs) >= MIN_THROUGHPUT, () -> seed + " throughput " + throughputs);
    assertTrue(median(p99s) <= MAX_P99, () -> seed + " p99 " + p99s);
    Await.until("the end of its sessions", 60, () -> server.count("sessions") == 1);
  }

  private static double median(List<Double> values) {
    return values.stream().sorted().toList().get(values.size() / 2);
  }
}
