package dev.ringfetch.examples.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.IndexServer;
import dev.ringfetch.index.client.Codec;
import dev.ringfetch.index.client.HashIndex;
import dev.ringfetch.index.client.IndexClient;
import dev.ringfetch.index.service.IndexMemory;
import dev.ringfetch.index.service.IndexMemoryContext;
import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The demo's proof: it finds what it is there for, at a server that does what it should not. */
@Timeout(120)
final class WorkloadTest {
  private static final long LEAST_WRITES = 200;
  private static final String COUNTER = "counter-0";

  @TempDir private Path directory;
  private Indexes indexes;
  private RingServer server;
  private IndexClient other;
  private HashIndex<String, Long> index;

  @BeforeEach
  void start() throws IOException {
    indexes =
        new Indexes(
            IndexMemory.shared(
                new IndexMemoryContext().budget(64 << 20).fabrics("shm").shmDirectory(directory)));
    server =
        IndexServer.addServices(
                RingServerBuilder.forPort(0).shmDirectory(directory),
                indexes,
                new HealthStatusManager())
            .build()
            .start();
    other = Workload.client(target());
    index = other.hash(Workload.INDEX, Codec.string(), Codec.int64());
  }

  @AfterEach
  void end() {
    other.close();
    server.shutdownNow();
    indexes.close();
  }

  private String target() {
    return "localhost:" + server.getPort();
  }

  private Workload run() throws InterruptedException {
    final Workload workload =
        new Workload(Workload.INDEX, target(), 2, 2, 1, Long.getLong("ringfetch.seed", 1));
    workload.start();
    while (workload.increments() < LEAST_WRITES && workload.failures() == 0) {
      Thread.sleep(5);
    }
    return workload;
  }

  @Test
  void allIsRightWhereNothingFails() throws InterruptedException {
    try (Workload workload = run()) {
      workload.stop();
      assertEquals(new Workload.Verdict(0, 0), workload.verify(other));
      assertEquals(0, workload.wentBack());
      assertEquals(0, workload.failures());
      assertTrue(workload.reads().total().getTotalCount() > 0);
    }
  }

  @Test
  void aLostWriteIsFound() throws InterruptedException {
    try (Workload workload = run()) {
      workload.stop();
      index.remove("counter-1");
      final Workload.Verdict verdict = workload.verify(other);
      assertEquals(new Workload.Verdict(1, 1), verdict);
    }
  }

  @Test
  void anIncrementThatWasCountedTwiceIsFound() throws InterruptedException {
    try (Workload workload = run()) {
      workload.stop();
      index.update(COUNTER, value -> value.orElse(0L) + 1);
      assertEquals(new Workload.Verdict(0, 1), workload.verify(other));
    }
  }

  @Test
  void aReadThatGoesBackIsFound() throws InterruptedException {
    try (Workload workload = run()) {
      index.put(COUNTER, 1L);
      final long endNs = System.nanoTime() + 60_000_000_000L;
      while (workload.wentBack() == 0 && System.nanoTime() < endNs) {
        Thread.sleep(5);
      }
      workload.stop();
      assertTrue(workload.wentBack() > 0);
    }
  }
}
