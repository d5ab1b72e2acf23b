package dev.ringfetch.index.linearizability;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.ringfetch.index.ServerProcess;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * One index server, and client processes that reach it over rings, over gRPC, and over both. All
 * five operations, some of which end without an answer. What all clients saw together must be
 * linearizable.
 *
 * <p>{@code -Dtest.args=-Dringfetch.linearizability.rounds=N} makes it longer, about four rounds a
 * second; {@code -Dringfetch.seed=SEED} draws the same operations again, which then meet as they
 * happen to.
 */
final class LinearizabilityTest {
  private static final int ROUNDS = Integer.getInteger("ringfetch.linearizability.rounds", 40);
  private static final long SEED =
      Long.getLong("ringfetch.seed", ThreadLocalRandom.current().nextLong());

  /** More calls where they are quicker, so that all are about as long at a round. */
  private static final List<Kind> PROCESSES =
      List.of(new Kind("ring", 4, 300), new Kind("both", 3, 150), new Kind("grpc", 3, 100));

  @TempDir Path directory;

  @Test
  @Timeout(24 * 60 * 60)
  void answersOverRingAndGrpcAreLinearizable() throws Exception {
    final List<ClientProcess> clients = new ArrayList<>();
    try (ServerProcess server = ServerProcess.start("--port=0")) {
      final int port = server.awaitPort();
      for (int i = 0; i < PROCESSES.size(); i++) {
        final Kind kind = PROCESSES.get(i);
        final Path file = directory.resolve("history-" + i);
        clients.add(
            ClientProcess.start(
                file, port, kind.routes, kind.threads, 1 + 100 * i, SEED, kind.calls));
      }
      check(clients);
    } finally {
      clients.forEach(ClientProcess::close);
    }
  }

  private static void check(List<ClientProcess> clients) throws Exception {
    final Coverage coverage = new Coverage();
    final long[] ringCalls = new long[clients.size()];
    long checkingNs = 0;
    for (int round = 0; round < ROUNDS; round++) {
      for (final ClientProcess client : clients) {
        client.begin(round);
      }
      final List<Operation> history = new ArrayList<>();
      for (int i = 0; i < clients.size(); i++) {
        final ClientProcess.Report report = clients.get(i).end();
        history.addAll(report.history());
        ringCalls[i] = report.ringCalls();
        assertEquals(0, report.fallbackCalls(), "calls that were not carried by the ring");
      }
      coverage.add(history);
      final long startNs = System.nanoTime();
      final Optional<String> violation = HistoryChecker.violation(history);
      checkingNs += System.nanoTime() - startNs;
      if (violation.isPresent()) {
        fail("seed=" + SEED + " round=" + round + "\n" + violation.get());
      }
    }
    System.out.println(coverage);
    System.out.printf(
        "linearizability: seed=%d rounds=%d operations=%d ringCalls=%s checked in %d ms%n",
        SEED,
        ROUNDS,
        coverage.operations(),
        List.of(ringCalls[0], ringCalls[1]),
        checkingNs / 1_000_000);
    for (int i = 0; i < ringCalls.length; i++) {
      assertEquals(
          !"grpc".equals(PROCESSES.get(i).routes), ringCalls[i] > 0, PROCESSES.get(i).routes);
    }
    assertEquals(List.of(), coverage.missing(), () -> "never happened, seed=" + SEED);
    assertTrue(coverage.meetings() > 0, "transports never met, seed=" + SEED);
  }

  private record Kind(String routes, int threads, int calls) {}
}
