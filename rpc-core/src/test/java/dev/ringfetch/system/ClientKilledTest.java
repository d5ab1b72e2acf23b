package dev.ringfetch.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.hunt.Rounds;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A client that is killed while it calls: nothing of it stays, and nobody else notices. */
class ClientKilledTest {
  private static final int ROUNDS = Rounds.of(1, 1);
  private static final int HANGING = 20;
  private static final int LIMIT_S = 5;

  @TempDir(factory = ShmTempDirFactory.class)
  Path directory;

  @Test
  void theServerFreesTheSessionAndOthersAreNotDisturbed() throws Exception {
    final HashIndex index = new HashIndex();
    final RingServer server =
        RingServerBuilder.forPort(0).shmDirectory(directory).addService(index).build().start();
    final RingChannel other =
        SystemChild.channelBuilder(directory, server.getPort()).requireFabric().build();
    try (Load load = new Load(other)) {
      SystemChild.awaitRing(other);
      load.start(1);
      final long files = openFiles();
      for (int round = 0; round < ROUNDS; round++) {
        try (SystemChild client = SystemChild.client(directory, server.getPort(), HANGING)) {
          assertEquals("loaded", client.readLine());
          assertEquals(2, server.sessionCount());
          assertTrue(openFiles() > files, "files of the client's session");
          final int hanging = HANGING * (round + 1);
          Await.until("calls that hang", LIMIT_S, () -> index.hanging() == hanging);
          client.kill();
          final long startNs = System.nanoTime();
          Await.until("cancels", LIMIT_S, () -> index.cancelled() == hanging);
          final long cancelledMs = Await.millisSince(startNs);
          Await.until("the session's end", LIMIT_S, () -> server.sessionCount() == 1);
          Await.until("its files", LIMIT_S, () -> openFiles() == files);
          System.out.printf(
              "client killed: handlers cancelled after %d ms, session freed after %d ms%n",
              cancelledMs, Await.millisSince(startNs));
        }
      }
      final long answered = load.answered();
      Await.until("calls of the other", LIMIT_S, () -> load.answered() > answered + 1_000);
      load.stop(LIMIT_S);
      assertEquals(0, load.unavailable());
      assertEquals(List.of(), load.failures());
      assertTrue(other.ringCalls() > 1_000, "ring calls");
      assertEquals(0, other.grpcCalls());
    } finally {
      other.shutdownNow();
      server.shutdownNow();
      assertTrue(other.awaitTermination(LIMIT_S, TimeUnit.SECONDS));
      assertTrue(server.awaitTermination(LIMIT_S, TimeUnit.SECONDS));
    }
    final RingChannel next = SystemChild.channelBuilder(directory, 1).build().shutdownNow();
    assertTrue(next.awaitTermination(LIMIT_S, TimeUnit.SECONDS));
    assertEquals(List.of(), Tree.files(directory)); // the killed one's counters, swept by the next
  }

  /** Session files that this process, the server's, holds open: their pages are in use. */
  private long openFiles() throws IOException {
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
      return descriptors.filter(this::isSessionFile).count();
    }
  }

  private boolean isSessionFile(Path descriptor) {
    try {
      final String file = Files.readSymbolicLink(descriptor).toString();
      return file.startsWith(directory.toString()) && file.contains("session-");
    } catch (NoSuchFileException e) {
      return false; // closed since it was listed
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
