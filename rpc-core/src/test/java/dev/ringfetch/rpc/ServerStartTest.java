package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.fabric.FabricContext;
import dev.ringfetch.fabric.FabricProvider;
import dev.ringfetch.fabric.HeapDoorbell;
import dev.ringfetch.fabric.shm.ShmProvider;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Starts and ends of servers: a start that fails leaves a server that can be started again. */
final class ServerStartTest extends RingFixture {
  @Test
  void startsOnAPortThatHasBecomeFree() throws Exception {
    final int port = Ports.pick();
    final RingServer server = server(RingServerBuilder.forPort(port));
    try (ServerSocket occupant = new ServerSocket(port)) {
      assertEquals(port, occupant.getLocalPort());
      for (int i = 0; i < 3; i++) {
        assertThrows(IOException.class, server::start);
        assertEquals("not started", server.fabrics());
      }
      awaitNothingLeft();
    }
    server.start();
    serve(server);
    connect(builder().requireFabric());
  }

  @Test
  void startsAfterWhateverAFabricHasThrown() throws Exception {
    final AtomicInteger attempts = new AtomicInteger();
    final FabricProvider failing = new FailingOnce(attempts);
    final RingServer server =
        server(RingServerBuilder.forPort(0).providers(List.of(new ShmProvider(), failing)));
    assertThrows(OutOfMemoryError.class, server::start);
    awaitNothingLeft();
    server.start();
    serve(server);
    assertEquals(2, attempts.get());
    assertTrue(server.fabrics().contains("shm"), server.fabrics());
  }

  @Test
  void startsOnceAndNotAfterAShutdown() throws Exception {
    final RingServer server = server(RingServerBuilder.forPort(0));
    server.start();
    serve(server);
    assertEquals(
        "Already started", assertThrows(IllegalStateException.class, server::start).getMessage());
    final RingServer ended = server(RingServerBuilder.forPort(0)).shutdown();
    final Server plain = ServerBuilder.forPort(0).build().shutdown();
    assertEquals(
        assertThrows(IllegalStateException.class, plain::start).getMessage(),
        assertThrows(IllegalStateException.class, ended::start).getMessage());
    assertTrue(ended.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
  }

  @Test
  void awaitTerminationKeepsItsTimeWhileAFabricCloses() throws Exception {
    final CountDownLatch closing = new CountDownLatch(1);
    final CountDownLatch closes = new CountDownLatch(1);
    final Fabric fabric = mock(Fabric.class);
    when(fabric.openDoorbell()).thenReturn(new HeapDoorbell());
    doAnswer(
            call -> {
              closing.countDown();
              closes.await();
              return null;
            })
        .when(fabric)
        .close();
    final FabricProvider provider = mock(FabricProvider.class);
    when(provider.name()).thenReturn("shm");
    when(provider.open(any())).thenReturn(fabric);
    final RingServer server =
        server(RingServerBuilder.forPort(0).providers(List.of(provider))).start().shutdown();
    try {
      assertTrue(closing.await(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
      final CompletableFuture<Boolean> early = new CompletableFuture<>();
      DefaultExecutor.RETRYING.execute(
          () -> {
            try {
              early.complete(server.awaitTermination(1, TimeUnit.MILLISECONDS));
            } catch (InterruptedException e) {
              early.completeExceptionally(e);
            }
          });
      assertFalse(early.get(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
      assertFalse(server.isTerminated());
    } finally {
      closes.countDown();
    }
    assertTrue(server.awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
    assertTrue(server.isTerminated());
  }

  private RingServer server(RingServerBuilder builder) {
    return builder
        .shmDirectory(directory)
        .pollers(1)
        .addService(service(Bytes.digesting()))
        .build();
  }

  /** No thread of a server's, and no file. */
  private void awaitNothingLeft() throws IOException {
    await(
        "threads",
        () ->
            Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().startsWith("ringfetch-server")));
    try (Stream<Path> files = Files.walk(directory)) {
      assertEquals(List.of(), files.filter(Files::isRegularFile).toList());
    }
  }

  /** A provider with less memory at first. */
  private record FailingOnce(AtomicInteger attempts) implements FabricProvider {
    @Override
    public String name() {
      return "failing";
    }

    @Override
    public int priority() {
      return -1;
    }

    @Override
    public String unavailability() {
      return null;
    }

    @Override
    public Fabric open(FabricContext context) throws IOException {
      if (attempts.incrementAndGet() == 1) {
        throw new OutOfMemoryError("Direct buffer memory");
      }
      throw new IOException("no longer");
    }
  }
}
