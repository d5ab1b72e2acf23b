package dev.ringfetch.frameworks.quarkus;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Two pairs of the packaged application, a server and a client each, with rings and without, take
 * turns. {@code mvn package -DskipTests} packages it.
 */
@Tag("timing")
@Timeout(600)
class QuarkusSpeedTest {
  private static final Path APPLICATION = Path.of("target", "quarkus-app", "quarkus-run.jar");
  private static final int ROUNDS = Integer.getInteger("rounds", 7);
  private static final long MILLIS = 2_000;
  private static final long WARM_UP_MILLIS = 20_000;
  private static final long START_MILLIS = 60_000;
  private static final int[] IN_FLIGHT = {1, 16};

  private final List<Process> processes = new ArrayList<>();

  /**
   * Figures of a round.
   *
   * @param cpuUs processor time of both processes a call.
   */
  private record Round(double p50Us, double p99Us, double perSecond, double cpuUs) {}

  /** A server and a client. */
  private final class Pair {
    private final String name;
    private final Process server;
    private final Process client;
    private final BufferedReader answers;

    Pair(String name, boolean rings) throws IOException, InterruptedException {
      this.name = name;
      final int port;
      try (ServerSocket free = new ServerSocket(0)) {
        port = free.getLocalPort();
      }
      server = start(rings, "-Dquarkus.grpc.server.port=" + port);
      awaitPort(port);
      client =
          start(
              rings,
              "-Dquarkus.grpc.server.port=0",
              "-Dquarkus.log.level=OFF",
              "-Dquarkus.banner.enabled=false",
              "-Dquarkus.grpc.clients.stock.port=" + port,
              "call");
      answers = client.inputReader(StandardCharsets.UTF_8);
    }

    private double cpuSeconds(Process process) {
      return process.info().totalCpuDuration().orElseThrow().toNanos() / 1e9;
    }

    private Round round(int inFlight, long millis) {
      final double before = cpuSeconds(server) + cpuSeconds(client);
      try {
        client.outputWriter().write(inFlight + " " + millis + "\n");
        client.outputWriter().flush();
        final String[] answer = answers.readLine().split(" ");
        final double perSecond = Double.parseDouble(answer[2]);
        return new Round(
            Double.parseDouble(answer[0]),
            Double.parseDouble(answer[1]),
            perSecond,
            (cpuSeconds(server) + cpuSeconds(client) - before) * 1e9 / (perSecond * millis));
      } catch (IOException e) {
        throw new IllegalStateException(name, e);
      }
    }
  }

  private Process start(boolean rings, String... arguments) throws IOException {
    final List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Dstock.rings=" + rings);
    command.add("-Dquarkus.otel.sdk.disabled=true");
    command.add("-Dquarkus.http.port=0");
    for (final String argument : arguments) {
      if (argument.startsWith("-")) {
        command.add(argument);
      }
    }
    command.add("-jar");
    command.add(APPLICATION.toString());
    for (final String argument : arguments) {
      if (!argument.startsWith("-")) {
        command.add(argument);
      }
    }
    final Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    processes.add(process);
    return process;
  }

  private static void awaitPort(int port) throws InterruptedException {
    final long startNs = System.nanoTime();
    while (true) {
      try {
        new Socket("localhost", port).close();
        return;
      } catch (IOException e) {
        assertTrue(System.nanoTime() - startNs < START_MILLIS * 1_000_000, "no server");
        Thread.sleep(50);
      }
    }
  }

  @AfterEach
  void end() {
    processes.forEach(Process::destroyForcibly);
  }

  private static double median(List<Round> rounds, ToDoubleFunction<Round> figure) {
    return rounds.stream().mapToDouble(figure).sorted().toArray()[rounds.size() / 2];
  }

  @Test
  void ringsAreFaster() throws Exception {
    assertTrue(Files.exists(APPLICATION), "mvn package -DskipTests packages the application");
    final List<Pair> pairs = List.of(new Pair("ring", true), new Pair("grpc", false));
    for (final Pair pair : pairs) {
      pair.round(4, WARM_UP_MILLIS);
    }
    for (final int inFlight : IN_FLIGHT) {
      final List<List<Round>> rounds = List.of(new ArrayList<>(), new ArrayList<>());
      for (int i = 0; i < 2 * ROUNDS; i++) {
        final int turn = (i / 2 + i) % 2; // the first of a round goes last in the next
        rounds.get(turn).add(pairs.get(turn).round(inFlight, MILLIS));
      }
      for (int i = 0; i < pairs.size(); i++) {
        System.out.printf(
            Locale.ROOT,
            "RESULT framework=quarkus transport=%s inflight=%d p50_us=%.1f p99_us=%.1f"
                + " calls_s=%.0f cpu_us=%.1f%n",
            pairs.get(i).name,
            inFlight,
            median(rounds.get(i), Round::p50Us),
            median(rounds.get(i), Round::p99Us),
            median(rounds.get(i), Round::perSecond),
            median(rounds.get(i), Round::cpuUs));
      }
      assertTrue(
          median(rounds.get(0), Round::p50Us) < median(rounds.get(1), Round::p50Us),
          "the median at " + inFlight + " in flight");
    }
  }
}
