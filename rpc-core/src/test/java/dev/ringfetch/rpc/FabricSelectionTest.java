package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.FabricProvider;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.StringJoiner;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Which of several fabrics serves a channel, and what happens when it cannot be reached. */
@Timeout(120)
final class FabricSelectionTest extends RingFixture {
  private final SecondFabric near = new SecondFabric("near", 2);
  private final SecondFabric far = new SecondFabric("far", 1);
  private final List<FabricProvider> both = List.of(far, near);

  @BeforeEach
  @AfterEach
  void clear() {
    System.clearProperty(FabricSelection.PROPERTY);
  }

  private RingServer serve(UnaryOperator<RingServerBuilder> options) throws Exception {
    return serve(Served.digesting(), builder -> options.apply(builder.providers(both)));
  }

  private RingChannelBuilder client() {
    return builder().providers(both);
  }

  /** Name of the fabric that serves a channel, or why none does. */
  private static String serving(RingChannel channel) throws Exception {
    try {
      channel.awaitRing().get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
      assertEquals(9, call(channel, 9).length);
      assertEquals(1, channel.ringCalls());
    } catch (ExecutionException e) {
      assertEquals(9, call(channel, 9).length);
      assertEquals(1, channel.grpcCalls());
    }
    final Transport transport = channel.transport();
    return transport.isRing() ? transport.name() : transport.reason();
  }

  private String serving(RingChannelBuilder builder) throws Exception {
    return serving(build(builder));
  }

  @Test
  void unlessSetPrioritiesDecide() throws Exception {
    assertEquals("near, far", serve(server -> server).fabrics());
    assertEquals("near", serving(client()));
    assertEquals(0, far.connects());
  }

  @Test
  void theOrderOfTheChannelDecides() throws Exception {
    assertEquals("near, far", serve(server -> server.fabrics("near", "far")).fabrics());
    assertEquals("far", serving(client().fabrics("far", "near")));
    assertEquals("near", serving(client().fabrics("near", "far")));
  }

  @Test
  void whatTheChannelDoesNotNameIsNotUsed() throws Exception {
    serve(server -> server);
    assertEquals("far", serving(client().fabrics("far")));
    assertEquals(0, near.connects());
    assertEquals("no fabric is to be used", serving(client().fabrics()));
  }

  @Test
  void whatTheServerDoesNotNameIsNotUsed() throws Exception {
    assertEquals("far", serve(server -> server.fabrics("far")).fabrics());
    assertEquals("far", serving(client()));
    assertEquals("no fabric in common; the server has far", serving(client().fabrics("near")));
  }

  @Test
  void aServerOfNoFabricServesGrpcAlone() throws Exception {
    assertEquals("none (no fabric is to be used)", serve(server -> server.fabrics()).fabrics());
    assertEquals("no fabric in common; the server has none", serving(client()));
  }

  @Test
  void whatIsNotOnTheClassPathIsSkipped() throws Exception {
    serve(server -> server.fabrics("verbs", "near"));
    assertEquals("near", serving(client().fabrics("verbs", "near")));
    assertEquals("verbs: no provider is on the class path", serving(client().fabrics("verbs")));
  }

  @Test
  void thePropertySpeaksForBuildersThatAreToldNothing() throws Exception {
    System.setProperty(FabricSelection.PROPERTY, "far, near,far");
    assertEquals("far, near", serve(server -> server).fabrics());
    assertEquals("far", serving(client()));
    assertEquals("near", serving(client().fabrics("near")));
    System.setProperty(FabricSelection.PROPERTY, "");
    assertEquals("no fabric is to be used", serving(client()));
  }

  @Test
  void namesAreChecked() {
    for (final String[] names : new String[][] {{""}, {" "}, {"near", "far", "near"}}) {
      assertThrows(
          IllegalArgumentException.class,
          () -> RingChannelBuilder.forTarget("localhost:1").fabrics(names));
      assertThrows(
          IllegalArgumentException.class, () -> RingServerBuilder.forPort(0).fabrics(names));
    }
  }

  @Test
  void withoutProvidersItIsSaid() {
    final StringJoiner obstacles = new StringJoiner("; ");
    assertEquals(List.of(), FabricSelection.unlessSet().of(List.of()).select(obstacles));
    assertEquals("no fabric is on the class path", obstacles.toString());
  }

  /** A provider of another version, or half removed: the others serve, and the reason is kept. */
  @Test
  void providerThatCannotBeLoadedIsPassedOver(@TempDir Path classes) throws Exception {
    final Path services = Files.createDirectories(classes.resolve("META-INF/services"));
    Files.writeString(
        services.resolve(FabricProvider.class.getName()),
        "no.such.Provider\n" + SecondFabric.class.getName());
    final StringJoiner obstacles = new StringJoiner("; ");
    try (URLClassLoader loader =
        new URLClassLoader(new URL[] {classes.toUri().toURL()}, getClass().getClassLoader())) {
      final List<String> names =
          FabricSelection.onClassPath(loader, obstacles).stream()
              .map(FabricProvider::name)
              .toList();
      assertTrue(names.containsAll(List.of("shm", SecondFabric.NAME)), names::toString);
    }
    assertEquals(
        "a fabric cannot be loaded: ServiceConfigurationError: dev.ringfetch.fabric.FabricProvider:"
            + " Provider no.such.Provider not found",
        obstacles.toString());
  }

  /** As a native library has it that does not fit, or a class of the JDK that is left out. */
  @Test
  void fabricThatCannotBeLinkedIsPassedOver() throws Exception {
    near.broken(new UnsatisfiedLinkError("no library"));
    assertEquals("far", serve(server -> server).fabrics());
    assertEquals("far", serving(client()));
    assertEquals("near: UnsatisfiedLinkError: no library", serving(client().fabrics("near")));
  }

  @Test
  void theNextServesWhereTheFirstCannotBeReached() throws Exception {
    final RingServer server = serve(options -> options);
    near.unreachable("no route");
    assertEquals("far", serving(client()));
    assertEquals(1, near.connects());
    assertEquals(1, server.sessionCount());
  }

  @Test
  void withAFabricRequiredItIsTheSame() throws Exception {
    serve(options -> options);
    near.unreachable("no route");
    final RingChannel channel = build(client().requireFabric());
    assertEquals(9, call(channel, 9).length);
    assertEquals("far", channel.transport().name());
    assertEquals(0, channel.grpcCalls());
  }

  @Test
  void whereNoneCanBeReachedCallsGoOverGrpc() throws Exception {
    final RingServer server = serve(options -> options);
    near.unreachable("no route");
    far.unreachable("no file");
    assertEquals("near: no route; far: no file", serving(client()));
    await("the offers are withdrawn", () -> server.sessionCount() == 0);
  }

  @Test
  void whereTheServerHasNoOtherBothReasonsAreTold() throws Exception {
    serve(options -> options.fabrics("near"));
    near.unreachable("no route");
    assertEquals("near: no route; no fabric in common; the server has near", serving(client()));
  }

  /** And is first again when it has carried, or after a while. */
  @Test
  void whatCouldNotBeReachedComesLastForAWhile() throws Exception {
    serve(options -> options);
    near.unreachable("no route");
    final RingChannel channel = build(client());
    assertEquals("far", serving(channel));
    reopen(channel);
    assertEquals("far", channel.transport().name());
    assertEquals(1, near.connects());
    channel.resetConnectBackoff();
    near.unreachable(null);
    reopen(channel);
    assertEquals("near", channel.transport().name());
  }

  @Test
  void whatCouldNotBeReachedIsTriedAgainWhereNothingElseIs() throws Exception {
    serve(options -> options);
    near.unreachable("no route");
    far.unreachable("no file");
    final RingChannel channel = build(client());
    assertEquals("near: no route; far: no file", serving(channel));
    far.unreachable(null);
    await(
        "a ring",
        () -> {
          assertFalse(channel.isShutdown());
          call(channel, 9);
          return channel.transport().isRing();
        });
    assertEquals("far", channel.transport().name());
    assertTrue(near.connects() > 1, "connects=" + near.connects());
  }

  private static void reopen(RingChannel channel) throws Exception {
    channel.enterIdle();
    channel.awaitRing().get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
  }
}
