package dev.ringfetch.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nobody of a pair is left to clean up: the next process of the same user does it. */
@Tag("slow")
class BothKilledTest {
  private static final int LIMIT_S = 10;
  private static final int CHURN_ROUNDS = 3;
  private static final int CHURN_NS = 20_000_000;

  @TempDir(factory = ShmTempDirFactory.class)
  Path directory;

  @Test
  void theNextServerSweeps() throws Exception {
    killBoth(0);
    final RingServer next =
        RingServerBuilder.forPort(0)
            .shmDirectory(directory)
            .addService(new HashIndex())
            .build()
            .start();
    try {
      assertEquals(List.of(), Tree.filesOfOthers(directory));
    } finally {
      next.shutdownNow();
      next.awaitTermination(LIMIT_S, TimeUnit.SECONDS);
    }
  }

  @Test
  void theNextClientSweeps() throws Exception {
    killBoth(0);
    try (SystemChild visitor = SystemChild.visitor(directory)) {
      visitor.awaitEnd();
    }
    assertEquals(List.of(), Tree.files(directory));
  }

  /** Killed at any point of opening or closing a session, between creating and unlinking too. */
  @Test
  void whateverTheMomentTheNextProcessSweeps() throws Exception {
    final long seed = Long.getLong("ringfetch.seed", 1);
    System.out.printf("both killed: seed=%d%n", seed);
    final Random random = new Random(seed);
    for (int round = 0; round < CHURN_ROUNDS; round++) {
      killBoth(1 + random.nextInt(CHURN_NS));
      final RingChannel visitor = SystemChild.channelBuilder(directory, 1).build().shutdownNow();
      assertTrue(visitor.awaitTermination(LIMIT_S, TimeUnit.SECONDS));
      assertEquals(List.of(), Tree.files(directory), "seed=" + seed + " round=" + round);
    }
  }

  private void killBoth(int churnNs) throws Exception {
    try (SystemChild server = SystemChild.server(directory, 0)) {
      final int port = Integer.parseInt(server.readLine());
      try (SystemChild client =
          churnNs > 0
              ? SystemChild.churn(directory, port)
              : SystemChild.client(directory, port, 0)) {
        client.readLine();
        final long startNs = System.nanoTime();
        while (System.nanoTime() - startNs < churnNs) {
          Thread.onSpinWait();
        }
        server.kill();
        client.kill();
        server.awaitEnd();
        client.awaitEnd();
      }
    }
    assertFalse(Tree.files(directory).isEmpty(), "what the killed left");
  }
}
