package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Server;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParameterException;

/** The addresses at which a server listens and that it announces. */
final class ListenOptionsTest {
  /** No host has it: it is for examples in documents. */
  private static final String ELSEWHERE = "203.0.113.7";

  private static final int ATTEMPTS = 50;

  @Command
  private static final class Program {
    @Mixin private ListenOptions listening;
  }

  private static ListenOptions parse(boolean isNode, String... arguments) throws IOException {
    final Program program = new Program();
    final var unused = new CommandLine(program).parseArgs(arguments);
    program.listening.resolve(isNode);
    return program.listening;
  }

  private static List<InetAddress> addresses(Server server) {
    return server.getListenSockets().stream()
        .map(socket -> ((InetSocketAddress) socket).getAddress())
        .toList();
  }

  private static Set<String> names(List<InetAddress> addresses) {
    return addresses.stream().map(InetAddress::getHostAddress).collect(Collectors.toSet());
  }

  /** Starts a server on a port that was free a moment ago; another process may take it. */
  private static Server start(String... arguments) throws IOException {
    for (int attempt = 1; ; attempt++) {
      final int port;
      try (ServerSocket free = new ServerSocket(0)) {
        port = free.getLocalPort();
      }
      final String[] all = Arrays.copyOf(arguments, arguments.length + 1);
      all[arguments.length] = "--port=" + port;
      try {
        return parse(false, all).builder().build().start();
      } catch (IOException e) {
        if (attempt == ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  private static void end(Server server) throws InterruptedException {
    assertTrue(server.shutdownNow().awaitTermination(60, TimeUnit.SECONDS));
  }

  @Test
  void aServerListensAtBothLoopbackAddressesAndNoOther() throws Exception {
    final boolean hasBoth =
        NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .filter(InetAddress::isLoopbackAddress)
                .count()
            > 1;
    Assumptions.assumeTrue(hasBoth, "no IPv6");
    final Server server = start();
    try {
      assertEquals(Set.of("127.0.0.1", "0:0:0:0:0:0:0:1"), names(addresses(server)));
      for (final InetAddress address : addresses(server)) {
        new Socket(address, server.getPort()).close();
      }
    } finally {
      end(server);
    }
  }

  @Test
  void aServerListensAtTheAddressesThatItIsTold() throws Exception {
    final Server server = start("--bind=127.0.0.2,127.0.0.3");
    try {
      assertEquals(Set.of("127.0.0.2", "127.0.0.3"), names(addresses(server)));
    } finally {
      end(server);
    }
    final Server everywhere = start("--bind=::");
    try {
      assertTrue(addresses(everywhere).get(0).isAnyLocalAddress());
      new Socket(InetAddress.getLoopbackAddress(), everywhere.getPort()).close();
    } finally {
      end(everywhere);
    }
  }

  /** Each address would get a port of its own. */
  @Test
  void aServerWithAnyPortListensAtOneAddress() throws Exception {
    final ListenOptions options = parse(false, "--port=0");
    final Server server = options.builder().build().start();
    try {
      assertEquals(
          "127.0.0.1:" + server.getPort() + "; plaintext", options.text(server.getListenSockets()));
    } finally {
      end(server);
    }
  }

  @Test
  void addressesArePrintedAsClientsWriteThem() throws Exception {
    for (final String each :
        List.of(
            "127.0.0.1", "[::1]", "[::]", "[fe80::1:2:3:4]", "[2001:db8::]", "[1:2:3:4:5:6:7:8]")) {
      assertEquals(
          each + ":7", ListenOptions.text(new InetSocketAddress(InetAddress.getByName(each), 7)));
    }
  }

  @Test
  void aNodeAnnouncesWhatItIsToldWithItsPort() throws Exception {
    assertEquals("localhost:7", parse(true).announced(7));
    assertEquals("127.0.0.1:7", parse(true, "--advertise=127.0.0.1").announced(7));
    assertEquals("[::1]:7", parse(true, "--advertise=::1").announced(7));
    assertEquals(
        ELSEWHERE + ":7", parse(true, "--bind=::", "--advertise=" + ELSEWHERE).announced(7));
    assertEquals("localhost:7", parse(true, "--bind=127.0.0.1").announced(7));
  }

  /** The second one listens for other hosts, and would announce itself to them as localhost. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "--advertise=" + ELSEWHERE + "|needs --bind",
        "--advertise=127.0.1.1|needs --bind",
        "--bind=0.0.0.0|needs --advertise",
        "--bind=::|needs --advertise",
        "--bind=" + ELSEWHERE + "|this host has no such address",
        "--bind=localhost," + ELSEWHERE + "|this host has no such address",
        "--bind=a..b|the name of no host",
        "--bind=|the name of no host"
      })
  void aNodeThatOthersCannotReachIsRefused(String given) {
    final String[] parts = given.split("\\|", -1);
    final ParameterException refused =
        assertThrows(ParameterException.class, () -> parse(true, parts[0]));
    assertTrue(refused.getMessage().contains(parts[1]), refused::getMessage);
    assertTrue(
        refused.getMessage().contains(parts[0].replaceAll("[^=]*[=,]", "")), refused::getMessage);
  }

  @Test
  void whatOnlyNodesAnnounceIsNoMatterToAServerAlone() throws Exception {
    assertEquals(ELSEWHERE + ":7", parse(false, "--advertise=" + ELSEWHERE).announced(7));
  }
}
