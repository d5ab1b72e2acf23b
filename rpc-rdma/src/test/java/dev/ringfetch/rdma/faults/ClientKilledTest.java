package dev.ringfetch.rdma.faults;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.rdma.natives.RdmaAssumptions;
import dev.ringfetch.rdma.verbs.FaultyProvider;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.system.Await;
import dev.ringfetch.system.HashIndex;
import dev.ringfetch.system.Load;
import dev.ringfetch.system.SystemChild;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client that is killed while it calls: nothing of it stays, and nobody else notices. */
@Tag("verbs")
@Timeout(300)
final class ClientKilledTest {
  @Test
  void theServerFreesTheSessionAndOthersAreNotDisturbed() throws Exception {
    RdmaAssumptions.assumeDevice();
    HashIndex index = new HashIndex();
    RingServer server =
        FaultChild.serverBuilder(new FaultyProvider(), 0).addService(index).build().start();
    RingChannel other =
        FaultChild.channelBuilder(new FaultyProvider(), server.getPort()).requireFabric().build();
    try (Load load = new Load(other)) {
      FaultSteps.awaitVerbs("other", other);
      String before = objects();
      try (SystemChild client = FaultChild.load(server.getPort(), FaultSteps.HANGING)) {
        assertTrue(client.readLine().contains("on verbs"));
        assertEquals("loaded", client.readLine());
        assertEquals(2, server.sessionCount());
        assertNotEquals(before, objects());
        load.start(1); // not before: a JVM that starts has few processors enough
        Await.until(
            "calls that hang", FaultSteps.WAIT_S, () -> index.hanging() == FaultSteps.HANGING);
        client.kill();
        long startNs = System.nanoTime();
        Await.until("cancels", FaultSteps.LIMIT_S, () -> index.cancelled() == FaultSteps.HANGING);
        long cancelledMs = Await.millisSince(startNs);
        Await.until("the session's end", FaultSteps.LIMIT_S, () -> server.sessionCount() == 1);
        Await.until("the device's objects", FaultSteps.LIMIT_S, () -> objects().equals(before));
        System.out.printf(
            "client killed: handlers cancelled after %d ms, the device's objects freed after %d ms%n",
            cancelledMs, Await.millisSince(startNs));
      }
      long answered = load.answered();
      Await.until(
          "calls of the other",
          FaultSteps.WAIT_S,
          () -> load.answered() > answered + FaultChild.CALLS);
      load.stop(FaultSteps.WAIT_S);
      assertEquals(0, load.unavailable());
      assertEquals(List.of(), load.failures());
      assertEquals(0, other.grpcCalls());
    } finally {
      FaultSteps.end(other);
      server.shutdownNow();
    }
  }

  /** Objects of all devices, as the kernel counts them: of both processes. */
  private static String objects() throws IOException, InterruptedException {
    Process process = new ProcessBuilder("rdma", "res", "show").redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertEquals(0, process.waitFor(), said);
    return said;
  }
}
