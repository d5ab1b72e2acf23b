package dev.ringfetch.index.linearizability;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.ringfetch.index.ServerProcess;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * One index server, and client processes that reach it over rings, over gRPC, and over both, and
 * read its memory. Five operations, some of which end without an answer. What all clients saw
 * together must be linearizable.
 *
 * <p>{@code -Dtest.args=-Dringfetch.linearizability.rounds=N} makes it longer, with about 3,500
 * operations a round; {@code -Dringfetch.seed=SEED} draws the same operations again, which then
 * meet as they happen to.
 */
final class LinearizabilityTest {
  private static final int ROUNDS = Integer.getInteger("ringfetch.linearizability.rounds", 6);
  private static final long SEED = Long.getLong("ringfetch.seed", 1);

  /** More calls where they are quicker, so that all are about as long at a round. */
  private static final List<Clients> PROCESSES =
      List.of(new Clients("ring", 4, 400), new Clients("both", 3, 100), new Clients("grpc", 3, 60));

  /** More than a process has threads, so that each client has an id of its own. */
  private static final int IDS = 100;

  private final Coverage coverage = new Coverage();
  private long directReads;
  private long orderedReads; // of these, those of ordered indexes
  private long checkingNs;

  @TempDir Path directory;

  @Test
  @Timeout(24 * 60 * 60)
  void answersOverRingAndGrpcAreLinearizable() throws Exception {
    final List<ClientProcess> clients = new ArrayList<>();
    try (ServerProcess server = ServerProcess.start("--port=0")) {
      final int port = server.awaitPort();
      for (final Clients one : PROCESSES) {
        final int firstId = 1 + IDS * clients.size();
        clients.add(
            ClientProcess.start(
                directory.resolve("history-" + firstId),
                port,
                one.routes,
                one.threads,
                firstId,
                SEED,
                one.calls));
      }
      for (int round = 0; round < ROUNDS; round++) {
        checkRound(round, clients);
      }
    } finally {
      clients.forEach(ClientProcess::close);
    }
    System.out.printf(
        "linearizability: seed=%d rounds=%d %s direct=%d ordered=%d, checked in %d ms%n",
        SEED,
        ROUNDS,
        coverage,
        directReads,
        orderedReads,
        TimeUnit.NANOSECONDS.toMillis(checkingNs));
    assertEquals(List.of(), coverage.missing(), () -> "never happened, seed=" + SEED);
    assertTrue(directReads > 0, () -> "no read was direct, seed=" + SEED);
    assertTrue(orderedReads > 0, () -> "no read of an ordered index was direct, seed=" + SEED);
    assertTrue(coverage.meetings() > 0, () -> "the transports never met, seed=" + SEED);
  }

  private void checkRound(int round, List<ClientProcess> clients) throws Exception {
    final String where = "seed=" + SEED + " round=" + round;
    final List<Operation> history = new ArrayList<>();
    final long startNs = System.nanoTime();
    for (final ClientProcess client : clients) {
      client.begin(round);
    }
    for (int i = 0; i < clients.size(); i++) {
      final ClientProcess.Report report = clients.get(i).end();
      final String routes = PROCESSES.get(i).routes;
      assertEquals(!"grpc".equals(routes), report.ringCalls() > 0, routes);
      assertEquals(0, report.fallbackCalls(), "calls meant for the ring that gRPC carried");
      if (routes.equals("ring")) {
        if (Client.isOrdered(round)) {
          orderedReads += report.directReads() - directReads;
        }
        directReads = report.directReads(); // so far
      }
      history.addAll(report.history());
    }
    final long endNs = System.nanoTime();
    for (final Operation operation : history) {
      // Not so if the processes had different clocks.
      assertTrue(startNs <= operation.invokedNs(), where);
      assertTrue(operation.invokedNs() <= operation.answeredNs(), where);
      assertTrue(operation.answeredNs() <= endNs, where);
    }
    coverage.add(history);
    final Optional<String> violation = HistoryChecker.violation(history);
    checkingNs += System.nanoTime() - endNs;
    violation.ifPresent(text -> fail(where + "\n" + text));
  }

  /**
   * A client process.
   *
   * @param routes what it uses: ring, grpc, or both
   * @param threads how many clients it has
   * @param calls how many each makes in a round
   */
  private record Clients(String routes, int threads, int calls) {}
}
