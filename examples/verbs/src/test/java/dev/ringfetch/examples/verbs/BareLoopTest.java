package dev.ringfetch.examples.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ringfetch.examples.process.HostAddress;
import dev.ringfetch.rdma.natives.NativeLibrary;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Bare verbs against a real device, server and client in two threads. */
@Tag("verbs")
final class BareLoopTest {
  /** More than one interval of completions, and more than the receives of datagrams. */
  private static final int CALLS = 3 * BareSignals.INTERVAL + 1;

  private InetAddress host;

  @BeforeEach
  void device() throws IOException {
    assumeTrue(NativeLibrary.unavailableBecause().isEmpty(), NativeLibrary::unavailableBecause);
    host = HostAddress.ofInterface();
  }

  @ParameterizedTest
  @EnumSource
  void roundsAreAnsweredAndCounted(BareMode mode) throws Exception {
    try (BareServer server = new BareServer(host)) {
      final CompletableFuture<Void> accepted = CompletableFuture.runAsync(() -> accept(server));
      try (BareClient client = new BareClient(new InetSocketAddress(host, server.port()), mode)) {
        accepted.join();
        for (int round = 1; round <= 2; round++) {
          final CompletableFuture<Void> served = CompletableFuture.runAsync(server::serve);
          for (int i = 0; i < CALLS; i++) {
            client.run();
          }
          client.end();
          final long calls = (long) round * CALLS;
          served.join();
          assertEquals(mode == BareMode.push ? calls : 0, server.writes());
          assertEquals(mode == BareMode.datagram ? calls : 0, server.sends());
          assertEquals(calls, client.writes());
          assertEquals((calls + round) / BareSignals.INTERVAL, client.signaled()); // with the ends
          assertEquals(
              mode == BareMode.fetch ? 0 : calls / BareSignals.INTERVAL, server.signaled());
          if (mode == BareMode.fetch) {
            assertTrue(client.reads() >= calls, () -> "reads=" + client.reads());
          } else {
            assertEquals(0, client.reads());
          }
        }
      }
    }
  }

  @Test
  void nobodyListens() throws IOException {
    final int port;
    try (BareServer server = new BareServer(host)) {
      port = server.port();
    }
    final IOException thrown =
        assertThrows(
            IOException.class,
            () -> new BareClient(new InetSocketAddress(host, port), BareMode.push).close());
    assertTrue(thrown.getMessage().contains("REJECTED"), thrown::getMessage);
  }

  private static void accept(BareServer server) {
    try {
      server.accept();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
