package dev.ringfetch.rdma.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.rdma.natives.RdmaAssumptions;
import dev.ringfetch.rdma.verbs.FaultyProvider;
import dev.ringfetch.rdma.verbs.FaultyProvider.ConnectFault;
import dev.ringfetch.rpc.Ports;
import dev.ringfetch.rpc.ReplyMode;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.system.Await;
import dev.ringfetch.system.Load;
import dev.ringfetch.system.SystemChild;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A server in another process that is killed, whose connection breaks, or that a client attacks:
 * the calls under way end, the next ones go over gRPC, and verbs is back when it can be.
 */
@Tag("verbs")
@Timeout(300)
final class ServerFaultTest {
  // One for all, as a JVM takes its time to start; and the next one where a test has killed it.
  private static SystemChild server;
  private static int port;

  private final FaultyProvider provider = new FaultyProvider();

  @BeforeAll
  static void start() throws Exception {
    RdmaAssumptions.assumeDevice();
    port = Ports.pick();
    startServer();
  }

  private static void startServer() throws Exception {
    server = FaultChild.server(List.of(), port);
    assertEquals("serving", server.readLine());
  }

  @AfterEach
  void isRidOfItsSessions() throws Exception {
    Await.until("the sessions' end", FaultSteps.WAIT_S, () -> server.count("sessions") == 0);
  }

  @AfterAll
  static void stop() {
    if (server != null) {
      server.close();
    }
  }

  @ParameterizedTest
  @EnumSource
  void killedServerEndsItsCallsAndTheNextOneIsFound(ReplyMode mode) throws Exception {
    String name = "server killed, " + mode;
    RingChannel channel = FaultChild.channelBuilder(provider, port).replyMode(mode).build();
    try {
      FaultSteps.awaitVerbs(name, channel);
      FaultSteps.strike(name, server, channel, server::kill);
      String meanwhile = FaultChild.call(channel, 1);
      assertTrue(meanwhile.contains("UNAVAILABLE"), meanwhile);
      assertEquals("grpc", channel.transport().name());
      server.close();
      startServer();
      FaultSteps.awaitVerbs(name, channel);
      assertEquals(1, server.count("sessions"));
    } finally {
      FaultSteps.end(channel);
    }
  }

  /** As both sides see it: the one whose queue pair it is, and the one whose peer falls silent. */
  @ParameterizedTest(name = "at the client: {0}")
  @ValueSource(booleans = {true, false})
  void queuePairInErrorEndsItsCallsAndVerbsComesBack(boolean client) throws Exception {
    String name = "queue pair in error at the " + (client ? "client" : "server");
    RingChannel channel = FaultChild.channelBuilder(provider, port).build();
    try {
      FaultSteps.awaitVerbs(name, channel);
      FaultSteps.strike(
          name,
          server,
          channel,
          () -> {
            provider.connectFault(ConnectFault.NOBODY_LISTENS); // or verbs would be back at once
            if (client) {
              provider.failQueuePair();
            } else {
              assertEquals("failed", server.ask("fail"));
            }
          });
      FaultSteps.assertServedByGrpc(channel);
      Await.until(
          "its cancels",
          FaultSteps.LIMIT_S,
          () -> server.count("cancelled") == server.count("hanging"));
      Await.until("the session's end", FaultSteps.LIMIT_S, () -> server.count("sessions") == 0);
      provider.connectFault(ConnectFault.NONE);
      FaultSteps.awaitVerbs(name, channel);
    } finally {
      FaultSteps.end(channel);
    }
  }

  /** The device refuses it: the offender's session ends, and nobody else notices. */
  @Test
  void clientThatWritesOutsideOfItsRingHarmsNobodyElse() throws Exception {
    FaultyProvider others = new FaultyProvider();
    RingChannel hostile = FaultChild.channelBuilder(provider, port).build();
    RingChannel neighbour = FaultChild.channelBuilder(others, port).requireFabric().build();
    try (Load load = new Load(neighbour)) {
      FaultSteps.awaitVerbs("neighbour", neighbour);
      load.start(1);
      FaultSteps.awaitVerbs("hostile", hostile);
      assertEquals(2, server.count("sessions"));
      attack("WRITE beyond its memory", hostile, load, provider::writeBeyondMemory);
      attack(
          "WRITE into another's memory", hostile, load, () -> provider.writeIntoMemoryOf(others));
      load.stop(FaultSteps.WAIT_S);
      assertEquals(0, load.unavailable());
      assertEquals(List.of(), load.failures());
      assertEquals(0, neighbour.grpcCalls());
    } finally {
      FaultSteps.end(hostile, neighbour);
    }
  }

  private void attack(String name, RingChannel hostile, Load neighbours, FaultSteps.Fault attack)
      throws Exception {
    FaultSteps.strike(name, server, hostile, attack);
    long answered = neighbours.answered();
    Await.until(
        "the neighbour's calls",
        FaultSteps.WAIT_S,
        () -> neighbours.answered() > answered + FaultChild.CALLS);
    FaultSteps.awaitVerbs(name, hostile);
    Await.until("the session's end", FaultSteps.LIMIT_S, () -> server.count("sessions") == 2);
  }
}
