package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.ringfetch.fabric.FabricProvider;
import io.grpc.SecurityLevel;
import io.grpc.ServerCall;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Which fabrics may carry what, where there are two: one of them only if both sides allow it. */
@Timeout(120)
final class PlaintextFabricsTest {
  private static final SecurityLevel PRIVATE = SecurityLevel.PRIVACY_AND_INTEGRITY;

  @TempDir Path directory;

  @Test
  void sharedMemoryMayUnlessSet() {
    final PlaintextFabrics policy = PlaintextFabrics.unlessSet(PlaintextFabrics.CLIENT);
    assertNull(policy.obstacle("shm", PRIVATE));
    assertNotNull(policy.obstacle("verbs", PRIVATE));
    assertNotNull(policy.obstacle("verbs", SecurityLevel.INTEGRITY));
    assertNull(policy.obstacle("verbs", SecurityLevel.NONE));
  }

  @Test
  void whatIsAllowedIsNotPrivateForThat() {
    assertEquals(PRIVATE, PlaintextFabrics.level("shm", PRIVATE));
    assertEquals(SecurityLevel.NONE, PlaintextFabrics.level("shm", SecurityLevel.NONE));
    assertEquals(SecurityLevel.NONE, PlaintextFabrics.level("verbs", PRIVATE));
  }

  @Tag("slow")
  @Test
  void aSecondFabricServesWhereBothSidesAllowIt() throws Exception {
    final Path services = Files.createDirectories(directory.resolve("META-INF/services"));
    Files.writeString(
        services.resolve(FabricProvider.class.getName()), SecondFabric.class.getName());
    assertEquals(
        """
        unless set: shm, server PRIVACY_AND_INTEGRITY, client PRIVACY_AND_INTEGRITY
        client's [second], server's [shm]: grpc
        client's [shm], server's [second]: grpc
        client's [second], server's [second]: second, server NONE, client NONE
        client's [shm, second], server's [second]: second, server NONE, client NONE
        client's [shm, second], server's [second, shm]: shm, server PRIVACY_AND_INTEGRITY, \
        client PRIVACY_AND_INTEGRITY
        by property: second, server NONE, client NONE
        by empty property: grpc""",
        JavaProcess.run(
            PlaintextFabricsTest.class,
            List.of("-Dringfetch.shm.directory=" + directory),
            directory + File.pathSeparator,
            null));
  }

  /** In a JVM with both fabrics. */
  public static void main(String[] args) throws Exception {
    connect("unless set", null, null);
    final List<String> both = List.of("shm", "second");
    connect(List.of("second"), List.of("shm"));
    connect(List.of("shm"), List.of("second"));
    connect(List.of("second"), List.of("second"));
    connect(both, List.of("second"));
    connect(both, List.of("second", "shm"));
    System.setProperty(PlaintextFabrics.PROPERTY, "verbs, second,second");
    connect("by property", null, null);
    System.setProperty(PlaintextFabrics.PROPERTY, "");
    connect("by empty property", null, null);
  }

  private static void connect(List<String> client, List<String> server) throws Exception {
    connect("client's " + client + ", server's " + server, client, server);
  }

  private static void connect(String name, List<String> ofClient, List<String> ofServer)
      throws Exception {
    final Served.Handler handler = Served.digesting();
    final RingServerBuilder serverBuilder =
        RingServerBuilder.newServerBuilderForPort(0, Tls.server())
            .spinTime(Duration.ZERO)
            .addService(RingFixture.service(handler));
    if (ofServer != null) {
      serverBuilder.plaintextFabrics(ofServer.toArray(new String[0]));
    }
    final RingServer server = serverBuilder.build().start();
    final RingChannelBuilder channelBuilder =
        RingChannelBuilder.newChannelBuilder("localhost:" + server.getPort(), Tls.client())
            .spinTime(Duration.ZERO);
    if (ofClient != null) {
      channelBuilder.plaintextFabrics(ofClient.toArray(new String[0]));
    }
    final RingChannel channel = channelBuilder.build();
    System.out.println(name + ": " + describe(channel, handler));
    channel.shutdownNow().awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
    server.shutdownNow().awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
  }

  private static String describe(RingChannel channel, Served.Handler handler) throws Exception {
    final SecurityLevel client;
    try {
      client =
          channel
              .awaitRing()
              .orTimeout(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS)
              .join()
              .securityLevel();
    } catch (CompletionException e) {
      return channel.transport().name();
    }
    new Exchange(channel).send(new byte[1]).response();
    final ServerCall<byte[], byte[]> call = handler.take().call;
    assertEquals(
        channel.transport().name(), call.getAttributes().get(Transport.TRANSPORT_ATTR_FABRIC));
    return channel.transport().name()
        + ", server "
        + call.getSecurityLevel()
        + ", client "
        + client;
  }
}
