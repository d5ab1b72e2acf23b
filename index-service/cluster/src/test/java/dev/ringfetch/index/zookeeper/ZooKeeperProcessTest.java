package dev.ringfetch.index.zookeeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.client.NodeFinder;
import dev.ringfetch.index.coordinator.Coordinator.Result;
import dev.ringfetch.index.coordinator.Party;
import dev.ringfetch.index.coordinator.Party.Answered;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.Node;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The ZooKeeper in a process of its own: killed, restarted, and left by its launcher. */
final class ZooKeeperProcessTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 1);
  private static final int DEADLINE_SECONDS = 60;

  @TempDir private Path directory;

  @Test
  void killedServerHasAllThatWasAnsweredWhenItIsStartedAgain() throws Exception {
    final ZooKeeperProcess first = ZooKeeperProcess.start(directory, 0);
    final ZooKeeperAddress address =
        new ZooKeeperAddress(
            first.address(), "killed", Duration.ofSeconds(20), ZooKeeperConfig.NONE);
    final Node node = Node.newBuilder().setId(7).setIncarnation(1).setAddress("host:1").build();
    final Party party = new Party(new ZooKeeperCoordinator(address), new Random(SEED));
    try {
      party.awaitConnected();
      party.coordinator().announce(node);
      final GroupState won = party.await(Result.DONE, party.create("kept", 1));
      final GroupState serving = party.await(Result.DONE, party.establish(won));
      final GroupState dropped = party.await(Result.DONE, party.create("dropped", 1));
      party.await(Result.DONE, party.drop(dropped));
      first.kill();
      assertFalse(first.isAlive());
      party.await("away", () -> !party.isConnected());
      final Answered pending = party.win(serving, 1);
      try (ZooKeeperProcess second = ZooKeeperProcess.start(directory, first.port())) {
        assertEquals(first.address(), second.address());
        final GroupState next = party.await(Result.DONE, pending);
        party.awaitConnected();
        assertEquals(serving.getEstablished(), next.getEstablished());
        assertTrue(next.getWon().getEpoch() > serving.getEstablished().getEpoch());
        assertEquals(1, party.groups().size());
        party.await("the node", () -> node.equals(party.nodes().get(7L)));
        final GroupState created = party.await(Result.DONE, party.create("dropped", 1));
        assertNotEquals(dropped.getGroup(), created.getGroup());
        assertTrue(created.getWon().getEpoch() > next.getWon().getEpoch());
        party.coordinator().close();
      }
    } finally {
      party.coordinator().close();
      first.close();
    }
  }

  @Test
  @Tag("slow")
  void serverThatHasLostAllGivesUpNoGroup() throws Exception {
    final ZooKeeperProcess first = ZooKeeperProcess.start(directory.resolve("first"), 0);
    final ZooKeeperAddress address =
        new ZooKeeperAddress(first.address(), "lost", Duration.ofSeconds(4), ZooKeeperConfig.NONE);
    final Party party = new Party(new ZooKeeperCoordinator(address), new Random(SEED));
    try {
      party.awaitConnected();
      final GroupState won = party.await(Result.DONE, party.create("kept", 1));
      party.await(Result.DONE, party.establish(won));
      first.kill();
      party.await("away", () -> !party.isConnected());
      try (ZooKeeperProcess second =
          ZooKeeperProcess.start(directory.resolve("second"), first.port())) {
        final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(12);
        while (System.nanoTime() - endNs < 0) { // it reconnects within this time
          party.poll();
          Thread.sleep(10);
        }
        assertTrue(second.isAlive());
        assertFalse(party.isConnected(), "what this one says counts for nothing");
        assertEquals(1, party.groups().size());
        party.coordinator().close();
      }
    } finally {
      party.coordinator().close();
      first.close();
    }
  }

  @Test
  void clientsFindTheNodesThatLive() throws Exception {
    final NodeFinder finder = NodeFinder.of("zk").orElseThrow();
    final Duration limit = Duration.ofSeconds(DEADLINE_SECONDS);
    try (ZooKeeperProcess server = ZooKeeperProcess.start(directory, 0)) {
      final URI address = URI.create("zk://" + server.address() + "/found");
      assertEquals(List.of(), finder.find(address, limit));
      final Party party =
          new Party(
              new ZooKeeperCoordinator(
                  new ZooKeeperAddress(server.address(), "found", ZooKeeperConfig.NONE)),
              new Random(SEED));
      party
          .coordinator()
          .announce(Node.newBuilder().setId(7).setIncarnation(1).setAddress("host:1").build());
      party.await("the node", () -> party.nodes().containsKey(7L));
      assertEquals(List.of("host:1"), finder.find(address, limit));
      party.coordinator().close();
      server.kill();
      final Duration little = Duration.ofMillis(100);
      assertThrows(IOException.class, () -> finder.find(address, little));
    }
  }

  @Test
  void serverEndsWithItsLauncher() throws Exception {
    final Process launcher =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                Launcher.class.getName(),
                directory.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    final ProcessHandle server =
        ProcessHandle.of(Long.parseLong(launcher.inputReader().readLine())).orElseThrow();
    assertTrue(server.isAlive());
    launcher.destroyForcibly();
    server.onExit().get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    assertFalse(server.isAlive());
  }

  /** Starts a server, and does nothing more. */
  static final class Launcher {
    private Launcher() {}

    public static void main(String[] arguments) throws Exception {
      System.out.println(ZooKeeperProcess.start(Path.of(arguments[0]), 0).pid());
      Thread.currentThread().join();
    }
  }
}
