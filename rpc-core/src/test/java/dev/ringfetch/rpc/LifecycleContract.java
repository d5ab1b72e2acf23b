package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallOptions;
import io.grpc.ConnectivityState;
import io.grpc.HandlerRegistry;
import io.grpc.InternalServer;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** How channels and servers begin and end. */
abstract class LifecycleContract extends TransportContract {
  LifecycleContract(Supplier<TransportHarness> harnesses) {
    super(harnesses);
  }

  private static boolean terminates(ManagedChannel channel) throws InterruptedException {
    return channel.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
  }

  private static boolean terminates(Server server) throws InterruptedException {
    return server.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS);
  }

  @Test
  void shutdownOfTheChannelLetsCallsGoOn() throws Exception {
    final Served.Handler handler = Served.hanging();
    start(handler);
    final ManagedChannel channel = harness.channel();
    final Exchange running = exchange().send(new byte[1]);
    final Served served = handler.take();
    served.awaitHalfClose();
    assertFalse(channel.isShutdown());
    channel.shutdown();
    assertTrue(channel.isShutdown());
    assertFalse(channel.isTerminated());
    assertFalse(channel.awaitTermination(50, TimeUnit.MILLISECONDS));
    final Exchange late = exchange().send(new byte[1]);
    assertStatus(Status.Code.UNAVAILABLE, "Channel shutdown invoked", late.await());
    assertEquals(List.of("close"), late.events());
    assertThrows(StatusRuntimeException.class, () -> blockingCall(new byte[1]));
    served.answer(new byte[5]);
    assertEquals(5, running.response().length);
    assertTrue(terminates(channel));
    assertTrue(channel.isTerminated());
    assertStatus(
        Status.Code.UNAVAILABLE, "Channel shutdown invoked", exchange().send(new byte[1]).await());
    channel.shutdown(); // again: no effect
  }

  @Test
  void shutdownOfAnIdleChannelEndsIt() throws Exception {
    start(Bytes.digesting());
    assertServes();
    assertTrue(terminates(harness.channel().shutdown()));
  }

  @Test
  void shutdownNowOfTheChannelEndsCalls() throws Exception {
    final Served.Handler handler = Served.hanging();
    start(handler);
    final Exchange running = exchange().send(new byte[1]);
    final Served served = handler.take();
    served.awaitHalfClose();
    harness.channel().shutdownNow();
    assertStatus(Status.Code.UNAVAILABLE, "Channel shutdownNow invoked", running.await());
    assertEquals("cancel", served.awaitEnd());
    assertTrue(terminates(harness.channel()));
    assertEquals(Status.Code.UNAVAILABLE, exchange().send(new byte[1]).await().getCode());
  }

  @Test
  void aCallThatIsMadeBeforeShutdownAndStartedAfterwardsIsRefused() throws Exception {
    start(Bytes.digesting());
    assertServes();
    final Exchange call = exchange();
    harness.channel().shutdownNow();
    assertEquals(Status.Code.UNAVAILABLE, call.send(new byte[1]).await().getCode());
  }

  @Test
  void aCallThatIsNotHalfClosedKeepsTheChannel() throws Exception {
    start(Bytes.digesting());
    final Exchange call = exchange().start();
    call.call().request(2);
    harness.channel().shutdown();
    call.call().sendMessage(new byte[6]);
    call.call().halfClose();
    if (call.await().isOk() || harness.countsCallsBeforeHalfClose()) {
      assertEquals(6, call.response().length);
    } else {
      assertEquals(Status.Code.UNAVAILABLE, call.await().getCode());
    }
    assertTrue(terminates(harness.channel()));
  }

  @Test
  void stateMethodsDoNotThrow() throws Exception {
    start(Bytes.digesting());
    final ManagedChannel channel = harness.channel();
    assertServes();
    assertNotNull(channel.getState(false));
    channel.notifyWhenStateChanged(channel.getState(true), () -> {});
    channel.resetConnectBackoff();
    channel.enterIdle();
    harness.awaitConnected(channel);
    assertServes();
    assertNotNull(channel.toString());
  }

  @Test
  void aChannelThatWasNeverConnectedCanBeShutDown() throws Exception {
    start(Bytes.digesting());
    assertServes();
    for (final boolean now : new boolean[] {false, true}) {
      final ManagedChannel channel = harness.unconnected(harness.server().getPort());
      assertEquals(ConnectivityState.IDLE, channel.getState(false));
      assertTrue(terminates(now ? channel.shutdownNow() : channel.shutdown()));
      assertStatus(
          Status.Code.UNAVAILABLE,
          "Channel shutdown",
          new Exchange(channel).send(new byte[1]).await());
    }
  }

  @Test
  void whereNobodyListensCallsAreUnavailable() throws Exception {
    final int port = Ports.pick();
    harness.handle(Bytes.digesting());
    final ManagedChannel channel = harness.unconnected(port);
    try {
      for (int i = 0; i < 3; i++) {
        assertEquals(
            Status.Code.UNAVAILABLE, new Exchange(channel).send(new byte[1]).await().getCode());
      }
    } finally {
      assertTrue(terminates(channel.shutdown()));
    }
  }

  @Test
  void aCallThatMayWaitWaitsForTheServer() throws Exception {
    final int port = Ports.pick();
    harness.handle(Bytes.digesting());
    final ManagedChannel channel = harness.unconnected(port);
    try {
      final CallOptions waiting = CallOptions.DEFAULT.withWaitForReady();
      final Exchange call = new Exchange(channel, Bytes.METHOD, waiting).send(new byte[6]);
      final Exchange late =
          new Exchange(channel, Bytes.METHOD, waiting.withDeadlineAfter(200, TimeUnit.MILLISECONDS))
              .send(new byte[6]);
      assertEquals(Status.Code.DEADLINE_EXCEEDED, late.await().getCode());
      assertEquals(
          Status.Code.UNAVAILABLE, new Exchange(channel).send(new byte[1]).await().getCode());
      assertFalse(call.isClosed());
      harness.replaceServer(startAgain(port));
      channel.resetConnectBackoff();
      assertEquals(6, call.response().length);
    } finally {
      assertTrue(terminates(channel.shutdown()));
    }
  }

  @Test
  void aServerWhoseStartIsInterruptedCanBeShutDown() throws Exception {
    start(Bytes.digesting());
    assertServes();
    final Server second = harness.newServer(0);
    Thread.currentThread().interrupt();
    try {
      second.start();
    } catch (IOException | RuntimeException e) {
      assertNotNull(e); // it may start, or not
    } finally {
      Thread.interrupted();
    }
    second.shutdownNow();
    assertTrue(terminates(second));
    assertServes();
  }

  private static final long IDLE_S = 1; // gRPC takes no less

  @Test
  void aChannelWithoutCallsBecomesIdle() throws Exception {
    final Served.Handler handler = Served.hanging();
    harness.channel(builder -> builder.idleTimeout(IDLE_S, TimeUnit.SECONDS));
    start(handler);
    for (int i = 0; i < 2; i++) {
      final Exchange call = exchange().send(new byte[1]);
      final Served served = handler.take();
      awaitState(ConnectivityState.READY);
      final CountDownLatch changed = new CountDownLatch(1);
      harness.channel().notifyWhenStateChanged(ConnectivityState.READY, changed::countDown);
      assertFalse(changed.await(2 * IDLE_S, TimeUnit.SECONDS), "idle, in the midst of a call");
      served.awaitHalfClose();
      served.answer(new byte[3]);
      assertEquals(3, call.response().length);
      awaitState(ConnectivityState.IDLE);
    }
  }

  private void awaitState(ConnectivityState wanted) throws Exception {
    final ManagedChannel channel = harness.channel();
    ConnectivityState state;
    while ((state = channel.getState(false)) != wanted) {
      final CountDownLatch changed = new CountDownLatch(1);
      channel.notifyWhenStateChanged(state, changed::countDown);
      assertTrue(
          changed.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS), "the state stays " + state);
    }
  }

  @Test
  void anIdleChannelConnectsAgainForTheNextCall() throws Exception {
    final Served.Handler handler = Served.hanging();
    start(handler);
    final Exchange running = exchange().send(new byte[1]);
    final Served served = handler.take();
    served.awaitHalfClose();
    awaitState(ConnectivityState.READY);
    harness.channel().enterIdle();
    awaitState(ConnectivityState.IDLE);
    served.answer(new byte[5]); // what was under way goes on
    assertEquals(5, running.response().length);
    final Exchange next = exchange().send(new byte[2]);
    handler.take().answer(new byte[6]);
    assertEquals(6, next.response().length);
    awaitState(ConnectivityState.READY);
  }

  @Test
  void aConnectionIsMadeOnRequest() throws Exception {
    start(Bytes.digesting());
    final ManagedChannel channel = harness.channel();
    channel.enterIdle();
    awaitState(ConnectivityState.IDLE);
    assertEquals(ConnectivityState.IDLE, channel.getState(true));
    awaitState(ConnectivityState.READY);
    assertServes();
  }

  @Test
  void aChannelThatIsShutDownSaysSo() throws Exception {
    start(Bytes.digesting());
    assertServes();
    final ManagedChannel channel = harness.channel();
    channel.shutdown();
    awaitState(ConnectivityState.SHUTDOWN);
    assertEquals(ConnectivityState.SHUTDOWN, channel.getState(true));
    assertTrue(terminates(channel));
    channel.enterIdle(); // without effect
    channel.resetConnectBackoff();
    assertEquals(ConnectivityState.SHUTDOWN, channel.getState(true));
  }

  @Test
  void openCallsKeepAServerThatShutsDown() throws Exception {
    final Served.Handler handler = Served.hanging();
    start(handler);
    final Exchange call = exchange().send(new byte[1]);
    final Served served = handler.take();
    served.awaitHalfClose();
    harness.server().shutdown();
    assertFalse(harness.server().awaitTermination(50, TimeUnit.MILLISECONDS));
    call.call().cancel("enough", null);
    assertEquals(Status.Code.CANCELLED, call.await().getCode());
    assertEquals("cancel", served.awaitEnd());
    assertTrue(terminates(harness.server()));
    harness.server().shutdown(); // again: no effect
    harness.server().shutdownNow();
    assertTrue(harness.server().isShutdown());
    assertTrue(terminates(harness.server()));
  }

  @Test
  void shutdownOfTheServerLetsCallsGoOn() throws Exception {
    final Served.Handler handler = Served.hanging();
    start(handler);
    final Server server = harness.server();
    final Exchange running = exchange().send(new byte[1]);
    final Served served = handler.take();
    served.awaitHalfClose();
    server.shutdown();
    assertTrue(server.isShutdown());
    assertFalse(server.isTerminated());
    assertFalse(server.awaitTermination(50, TimeUnit.MILLISECONDS));
    served.answer(new byte[5]);
    assertEquals(5, running.response().length);
    assertTrue(terminates(server));
    assertTrue(server.isTerminated());
    assertEquals(Status.Code.UNAVAILABLE, exchange().send(new byte[1]).await().getCode());
  }

  @Test
  void shutdownOfAnIdleServerEndsIt() throws Exception {
    start(Bytes.digesting());
    assertServes();
    assertTrue(terminates(harness.server().shutdown()));
  }

  @Test
  void shutdownNowOfTheServerEndsCalls() throws Exception {
    final Served.Handler handler = Served.hanging();
    start(handler);
    final Exchange running = exchange().send(new byte[1]);
    final Served served = handler.take();
    served.awaitHalfClose();
    harness.server().shutdownNow();
    final Status status = running.await();
    assertTrue(
        List.of(Status.Code.UNAVAILABLE, harness.brokenByServer(Status.Code.UNAVAILABLE))
            .contains(status.getCode()),
        status::toString);
    assertNotNull(status.getDescription());
    assertEquals("cancel", served.awaitEnd());
    assertTrue(served.call.isCancelled());
    served.awaitCancelledContext();
    assertTrue(terminates(harness.server()));
  }

  @Test
  void theChannelServesAgainWhenTheServerIsBack() throws Exception {
    final int port = Ports.pick();
    harness.handle(Bytes.digesting()).startOn(port);
    assertServes();
    for (int i = 0; i < 2; i++) {
      assertTrue(terminates(harness.server().shutdownNow()));
      harness.replaceServer(startAgain(port));
      final long deadline =
          System.nanoTime() + TimeUnit.SECONDS.toNanos(TransportHarness.TIMEOUT_S);
      Status status;
      do {
        harness.channel().resetConnectBackoff();
        status = exchange().send(new byte[1]).await();
        if (!status.isOk()) {
          assertEquals(Status.Code.UNAVAILABLE, status.getCode(), status::toString);
        }
      } while (!status.isOk() && System.nanoTime() < deadline);
      assertTrue(status.isOk(), status::toString);
      assertServes();
    }
  }

  /** A selector may hold on to the socket for a moment after the server's end. */
  private Server startAgain(int port) throws IOException {
    final long startNs = System.nanoTime();
    while (true) {
      try {
        return harness.newServer(port).start();
      } catch (IOException e) {
        if (System.nanoTime() - startNs > TimeUnit.SECONDS.toNanos(TransportHarness.TIMEOUT_S)) {
          throw e;
        }
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void aServerIsStartedOnce() throws Exception {
    start(Bytes.digesting());
    assertThrows(IllegalStateException.class, () -> harness.server().start());
    assertServes();
  }

  @Test
  void aServerWhosePortIsTakenDoesNotStart() throws Exception {
    start(Bytes.digesting());
    final Server second = harness.newServer(harness.server().getPort());
    assertThrows(IOException.class, second::start);
    second.shutdownNow();
    assertServes();
  }

  @Test
  void aServerThatWasNeverStartedCanBeShutDown() throws Exception {
    start(Bytes.digesting());
    final Server second = harness.newServer(0);
    second.shutdown();
    assertTrue(terminates(second));
    assertServes();
  }

  @Test
  void aServerSaysWhatItServesAndWhere() throws Exception {
    start(Bytes.digesting());
    final Server server = harness.server();
    assertTrue(server.getPort() > 0);
    assertEquals(
        server.getPort(), ((InetSocketAddress) server.getListenSockets().get(0)).getPort());
    for (final List<ServerServiceDefinition> services :
        List.of(server.getServices(), server.getImmutableServices())) {
      assertEquals(
          List.of(Bytes.SERVICE),
          services.stream().map(service -> service.getServiceDescriptor().getName()).toList());
    }
    assertEquals(List.of(), server.getMutableServices());
    assertServes();
    server.shutdownNow();
    assertTrue(terminates(server));
    assertEquals(1, server.getServices().size());
  }

  @Test
  void theServicesOfAFallbackRegistryAreMutable() throws Exception {
    final ServerServiceDefinition late =
        ServerServiceDefinition.builder("late.Service")
            .addMethod(Bytes.method("late.Service/Call"), Bytes.digesting())
            .build();
    harness.server(
        builder ->
            builder.fallbackHandlerRegistry(
                new HandlerRegistry() {
                  @Override
                  public List<ServerServiceDefinition> getServices() {
                    return List.of(late);
                  }

                  @Override
                  public ServerMethodDefinition<?, ?> lookupMethod(String name, String authority) {
                    return late.getMethod(name);
                  }
                }));
    start(Bytes.digesting());
    final Server server = harness.server();
    assertEquals(List.of("late.Service"), names(server.getMutableServices()));
    assertEquals(List.of(Bytes.SERVICE), names(server.getImmutableServices()));
    assertEquals(List.of(Bytes.SERVICE, "late.Service"), names(server.getServices()));
    assertServes();
  }

  private static List<String> names(List<ServerServiceDefinition> services) {
    return services.stream().map(service -> service.getServiceDescriptor().getName()).toList();
  }

  @Test
  void theServerIsInTheContextOfItsCalls() throws Exception {
    final Server[] seen = new Server[1];
    start(
        new Served.Handler(
            served -> {
              seen[0] = InternalServer.SERVER_CONTEXT_KEY.get();
              served.answer(new byte[1]);
            }));
    assertEquals(1, exchange().send(new Metadata(), new byte[1]).response().length);
    assertNotNull(seen[0]);
    assertEquals(harness.server().getPort(), seen[0].getPort());
  }
}
