package dev.ringfetch.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.hunt.Rounds;
import dev.ringfetch.rpc.Ports;
import dev.ringfetch.rpc.RingChannel;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server that is killed while its client calls: every call ends, and the next server serves. */
class ServerKilledTest {
  private static final int ROUNDS = Rounds.of(1, 1);
  private static final int HANGING = 20;
  private static final int LIMIT_S = 5;

  @TempDir(factory = ShmTempDirFactory.class)
  Path directory;

  @Test
  void everyCallEndsAndTheNextServerIsFound() throws Exception {
    final int port = Ports.pick();
    SystemChild server = SystemChild.server(directory, port);
    assertEquals(port, Integer.parseInt(server.readLine()));
    final RingChannel channel = SystemChild.channelBuilder(directory, port).build();
    try {
      SystemChild.awaitRing(channel);
      for (int round = 0; round < ROUNDS; round++) {
        kill(server, channel);
        server.close();
        server = SystemChild.server(directory, port);
        assertEquals(port, Integer.parseInt(server.readLine()));
        final long startNs = System.nanoTime();
        final long before = channel.ringCalls();
        SystemChild.awaitRing(channel);
        SystemChild.awaitRing(channel);
        assertTrue(channel.ringCalls() > before, "ring calls");
        System.out.printf(
            "server killed: round %d, back on the ring %d ms after it was up%n",
            round, Await.millisSince(startNs));
      }
    } finally {
      channel.shutdownNow();
      server.close();
    }
  }

  private static void kill(SystemChild server, RingChannel channel) throws Exception {
    try (Load load = new Load(channel).hang(HANGING).start(3)) {
      final long before = channel.ringCalls();
      Await.until("ring calls", 30, () -> channel.ringCalls() > before + 1_000);
      Await.until("calls that hang", 30, () -> server.count("hanging") == HANGING);
      assertEquals(0, load.unavailable());
      load.mark();
      server.kill();
      Await.until("the end of calls that hang", LIMIT_S, () -> load.hanging() == 0);
      load.stop(LIMIT_S);
      System.out.printf(
          "server killed: ring calls=%d, %d calls under way, the last ended after %d ms%n",
          channel.ringCalls() - before, load.pendingAtMark(), load.lastEndMs());
      assertTrue(load.pendingAtMark() >= HANGING, "calls under way");
      assertTrue(load.lastEndMs() < 1_000L * LIMIT_S, "the last ended too late");
      assertTrue(load.unavailable() >= HANGING, "calls that ended UNAVAILABLE");
      assertEquals(List.of(), load.failures());
    }
  }
}
