package dev.ringfetch.rdma.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.rdma.natives.RdmaAssumptions;
import dev.ringfetch.rdma.verbs.FaultyProvider;
import dev.ringfetch.rdma.verbs.FaultyProvider.ConnectFault;
import dev.ringfetch.rpc.Ports;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.system.Await;
import dev.ringfetch.system.HashIndex;
import dev.ringfetch.system.SystemChild;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Connections that do not come about: calls go over gRPC, one line says why, verbs comes later. */
@Tag("verbs")
@Timeout(300)
final class ConnectFaultTest {
  /** Less than the memory of a session with rings to begin with. */
  private static final int LOCKED_KB = 16;

  private static final String BEYOND = "RLIMIT_MEMLOCK " + LOCKED_KB * 1024;
  private static final int ATTEMPTS = 3;

  @BeforeEach
  void device() {
    RdmaAssumptions.assumeDevice();
  }

  @ParameterizedTest
  @CsvSource({
    "WRONG_TOKEN, 'no such offer, or the token is wrong'",
    "NOBODY_LISTENS, nobody listens there"
  })
  void rejectedClientCallsOverGrpcUntilItIsLetIn(ConnectFault fault, String words)
      throws Exception {
    RingServer server = serve();
    FaultyProvider provider = new FaultyProvider();
    provider.connectFault(fault);
    RingChannel channel = FaultChild.channelBuilder(provider, server.getPort()).build();
    try (Logged logged = new Logged()) {
      awaitRefusals(channel);
      assertEquals(0, channel.ringCalls());
      assertTrue(channel.transport().reason().contains(words), channel::toString);
      assertEquals(1, logged.lines().size(), () -> logged.lines().toString());
      assertTrue(logged.lines().get(0).contains(words), () -> logged.lines().toString());
      // One that was offered counts until the server has heard that nothing comes of it.
      Await.until("no session", FaultSteps.LIMIT_S, () -> server.sessionCount() == 0);
      provider.connectFault(ConnectFault.NONE);
      FaultSteps.awaitVerbs(fault.toString(), channel);
      assertEquals(1, server.sessionCount());
    } finally {
      FaultSteps.end(channel);
      server.shutdownNow();
    }
  }

  @Test
  void serverBeyondItsMemoryLimitServesOverGrpcUntilItIsRaised() throws Exception {
    int port = Ports.pick();
    RingChannel channel = FaultChild.channelBuilder(new FaultyProvider(), port).build();
    try (SystemChild server = FaultChild.server(FaultChild.lockingAtMost(LOCKED_KB), port);
        Logged logged = new Logged()) {
      assertEquals("serving", server.readLine());
      awaitRefusals(channel);
      assertEquals(0, channel.ringCalls());
      assertTrue(channel.transport().reason().contains(BEYOND), channel::toString);
      assertEquals(1, logged.lines().size(), () -> logged.lines().toString());
      assertTrue(logged.lines().get(0).contains(BEYOND), () -> logged.lines().toString());
      raiseLimit(server);
      FaultSteps.awaitVerbs("the server's limit was raised", channel);
    } finally {
      FaultSteps.end(channel);
    }
  }

  @Test
  void clientBeyondItsMemoryLimitCallsOverGrpcUntilItIsRaised() throws Exception {
    RingServer server = serve();
    try (SystemChild client =
        FaultChild.caller(FaultChild.lockingAtMost(LOCKED_KB), server.getPort())) {
      assertEquals("ready", client.readLine());
      Await.until(
          "attempts",
          FaultSteps.WAIT_S,
          () -> {
            assertEquals("OK", client.ask("call"));
            return client.count("refused") >= ATTEMPTS;
          });
      assertEquals(0, client.count("ring"));
      String transport = client.ask("transport");
      assertTrue(transport.contains("name=grpc") && transport.contains(BEYOND), transport);
      String logged = client.ask("logged");
      // Each reason once: which registration finds no room may differ from attempt to attempt.
      List<String> reasons = List.of(logged.split("there is no ring", -1));
      assertTrue(reasons.size() > 1, logged);
      assertEquals(
          reasons.size(),
          reasons.stream().map(one -> one.replaceAll("[],] *(INFO )?$", "")).distinct().count(),
          logged);
      assertTrue(logged.contains(BEYOND), logged);
      raiseLimit(client);
      Await.until(
          "verbs",
          FaultSteps.WAIT_S,
          () -> {
            assertEquals("OK", client.ask("call"));
            return client.count("ring") > 0;
          });
      assertEquals(1, server.sessionCount());
    } finally {
      server.shutdownNow();
    }
  }

  private static RingServer serve() throws IOException {
    return FaultChild.serverBuilder(new FaultyProvider(), 0)
        .addService(new HashIndex())
        .build()
        .start();
  }

  /** Calls, over gRPC, until verbs was asked for in vain for several times. */
  private static void awaitRefusals(RingChannel channel) throws Exception {
    long refused = FaultChild.refused();
    Await.until(
        "attempts",
        FaultSteps.WAIT_S,
        () -> {
          assertEquals("OK", FaultChild.call(channel, 1));
          return FaultChild.refused() >= refused + ATTEMPTS;
        });
  }

  private static void raiseLimit(SystemChild child) throws Exception {
    Process process =
        new ProcessBuilder("prlimit", "--memlock=unlimited", "--pid", Long.toString(child.pid()))
            .inheritIO()
            .start();
    assertEquals(0, process.waitFor());
  }
}
