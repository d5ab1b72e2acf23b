package dev.ringfetch.index.linearizability;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.linearizability.FaultyIndex.Fault;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.CreateIndexResponse;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The same clients and the same checker as in {@link LinearizabilityTest}, in one process, on an
 * index that does wrong: the checker must find out, and must not where nothing is wrong.
 */
final class FaultyIndexTest {
  private static final int THREADS = 4;
  private static final int CALLS = 500;

  /** What the index without a fault has to pass. */
  private static final int ROUNDS = 10;

  /** By then a fault that is there was found, or the checker is blind. */
  private static final int ROUNDS_MAX = 200;

  private static final long SEED = Long.getLong("ringfetch.seed", 1);

  @ParameterizedTest
  @EnumSource
  void faultsAreFound(Fault fault) throws Exception {
    final FaultyIndex index = new FaultyIndex(fault);
    final RingServer server =
        RingServerBuilder.forPort(0)
            .spinTime(Duration.ZERO)
            .addService(index)
            .addService(new AnyIndex())
            .build()
            .start();
    final RingChannel channel =
        RingChannelBuilder.forAddress("localhost", server.getPort())
            .usePlaintext()
            .requireFabric()
            .spinTime(Duration.ZERO)
            .build();
    try (Crew crew = new Crew(1, THREADS, SEED, List.of(new Route(channel, true)), false)) {
      check(fault, index, crew);
      assertTrue(channel.ringCalls() > 0);
    } finally {
      channel.shutdownNow();
      server.shutdownNow();
    }
  }

  /** The faulty index has any name and kind. */
  private static final class AnyIndex extends IndexAdminGrpc.IndexAdminImplBase {
    @Override
    public void createIndex(
        CreateIndexRequest request, StreamObserver<CreateIndexResponse> responses) {
      responses.onNext(CreateIndexResponse.getDefaultInstance());
      responses.onCompleted();
    }
  }

  private static void check(Fault fault, FaultyIndex index, Crew crew) throws Exception {
    final int rounds = fault == Fault.NONE ? ROUNDS : ROUNDS_MAX;
    long operations = 0;
    for (int round = 0; round < rounds; round++) {
      final List<Operation> history = crew.run(round, CALLS);
      operations += history.size();
      final Optional<String> violation = HistoryChecker.violation(history);
      if (violation.isPresent()) {
        System.out.printf(
            "%s: found in %d operations, after %d faults, seed=%d%n",
            fault, operations, index.faults(), SEED);
        assertTrue(index.faults() > 0, () -> "nothing was wrong: " + violation.get());
        return;
      }
    }
    final String done = index.faults() + " faults in " + operations + " operations, seed=" + SEED;
    assertEquals(Fault.NONE, fault, () -> "not found: " + done);
    assertEquals(0, index.faults());
  }
}
