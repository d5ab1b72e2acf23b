package dev.ringfetch.index;

import dev.ringfetch.index.direct.NodeAddress;
import dev.ringfetch.index.rights.Rights;
import dev.ringfetch.index.service.IndexServices;
import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.index.tls.TlsFiles;
import io.grpc.InsecureServerCredentials;
import io.grpc.ServerCredentials;
import io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The addresses of a server: those at which it listens, with their TLS, and the one that a node of
 * a cluster announces. Unless told otherwise, the server listens at the loopback addresses, where
 * no other host reaches it.
 */
final class ListenOptions {
  static final int MAX_PORT = 65_535;

  /** A connection over which nothing comes for so long is probed: its host may have no power. */
  private static final int KEEP_ALIVE_SECONDS = 30;

  private static final int KEEP_ALIVE_TIMEOUT_SECONDS = 10;

  private static final String LOCALHOST = "localhost";

  /** The loopback addresses, whichever of them the host's names have for {@link #LOCALHOST}. */
  private static final List<InetAddress> LOOPBACK =
      List.of(address(127, 0, 0, 1), address(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1));

  /** The groups of zeros that "::" stands for in an IPv6 address. */
  private static final Pattern ZEROS = Pattern.compile("(^|:)(0(:|$)){2,}");

  @Option(
      names = "--port",
      paramLabel = "PORT",
      defaultValue = "50051",
      description = "Where to listen; 0: any free port. Default: ${DEFAULT-VALUE}.")
  private int port;

  @Option(
      names = "--bind",
      paramLabel = "ADDRESSES",
      hideParamSyntax = true,
      split = "\\s*,\\s*",
      description = "Listen there; :: is everywhere. Default: loopback.")
  private @Nullable List<String> bound; // null: the loopback addresses

  @Mixin private TlsOptions tlsOptions;
  @Mixin private UsersOptions users;

  @Option(
      names = "--advertise",
      paramLabel = "HOST",
      converter = AdvertisedHost.class,
      description = "Where a node's port is reached. Default: localhost.")
  private @Nullable String advertised;

  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  private final Set<InetAddress> addresses = new LinkedHashSet<>();
  private @Nullable TlsFiles tls; // null: plaintext
  private boolean servesNode; // of a cluster
  private @Nullable Rights rights; // null: there are no users

  /** The port to listen on; 0 for any. */
  int port() {
    return port;
  }

  /** The address that a node announces, with the port on which it listens. */
  String announced(int listening) {
    return NodeAddress.of(advertised == null ? LOCALHOST : advertised, listening);
  }

  /** The TLS files; null if the server is plaintext. */
  @Nullable TlsFiles tls() {
    return tls;
  }

  /** Reads the files of TLS and users again if they have changed. */
  void refresh() {
    if (tls != null) {
      tls.refresh();
    }
    if (rights != null) {
      rights.refresh();
    }
  }

  /** Whether a request for the console may see it: it has this header, or null. */
  boolean letsLook(@Nullable String authorization) {
    return rights == null || rights.letsLook(authorization);
  }

  /** Writes the last lines of the audit, after the last call has ended. */
  void close() {
    if (rights != null) {
      rights.close();
    }
  }

  /** Returns indexes, whose callers have the rights of users, if there are any. */
  Indexes guarded(Indexes indexes) {
    if (rights != null) {
      indexes.rights(rights);
    }
    return indexes;
  }

  /** The addresses of sockets as clients write them, for one line of output. */
  String text(List<? extends SocketAddress> sockets) {
    return sockets.stream()
        .map(InetSocketAddress.class::cast)
        .map(ListenOptions::text)
        .collect(
            Collectors.joining(
                ", ",
                "",
                (tls == null ? "; plaintext" : "; TLS") + (rights == null ? "" : "; for users")));
  }

  /** The address of a socket as clients write it: an IPv6 address is short, and in brackets. */
  static String text(InetSocketAddress socket) {
    final String host = socket.getAddress().getHostAddress();
    return (socket.getAddress() instanceof Inet4Address
            ? host
            : "[" + ZEROS.matcher(host).replaceFirst("::") + "]")
        + ":"
        + socket.getPort();
  }

  /**
   * The sockets of a server at the addresses. With port 0 there is one, at the first address: each
   * address would get a port of its own.
   */
  List<InetSocketAddress> sockets(int at) {
    return addresses.stream()
        .limit(at == 0 ? 1 : Integer.MAX_VALUE)
        .map(address -> new InetSocketAddress(address, at))
        .toList();
  }

  /**
   * Checks the options, finds the addresses, and reads the TLS files.
   *
   * @param isNode whether the server is a node of a cluster, which others have to reach
   * @throws IOException if the TLS files cannot be used
   */
  void resolve(boolean isNode) throws IOException {
    servesNode = isNode;
    if (port < 0 || port > MAX_PORT) {
      throw misuse("--port is out of range: " + port + " is not in 0.." + MAX_PORT);
    }
    for (final String name : bound == null ? List.of(LOCALHOST) : bound) {
      try {
        final List<InetAddress> here =
            addressesOf(name).stream().filter(ListenOptions::isHere).toList();
        if (here.isEmpty()) {
          throw misuse("--bind " + name + ": this host has no such address");
        }
        addresses.addAll(here);
      } catch (UnknownHostException e) {
        throw misuse("--bind " + name + ": the name of no host");
      }
    }
    if (isNode) {
      checkReached();
    }
    try {
      tls = tlsOptions.readOfServer(isNode);
    } catch (IOException e) {
      throw new IOException("TLS: " + FailureReason.of(e), e);
    }
    try {
      rights = users.read(isNode, tls != null); // a node with TLS has authorities
    } catch (IOException e) {
      throw new IOException("users: " + FailureReason.of(e), e);
    }
  }

  /** The builder of a server that listens at {@link #sockets} of its port. */
  NettyServerBuilder builder() {
    final ServerCredentials credentials =
        tls == null
            ? InsecureServerCredentials.create()
            : rights == null ? tls.server() : tls.serverOfUsers();
    final List<InetSocketAddress> sockets = sockets(port);
    final NettyServerBuilder builder =
        NettyServerBuilder.forAddress(sockets.get(0), credentials)
            .keepAliveTime(KEEP_ALIVE_SECONDS, TimeUnit.SECONDS)
            .keepAliveTimeout(KEEP_ALIVE_TIMEOUT_SECONDS, TimeUnit.SECONDS);
    sockets.stream().skip(1).forEach(builder::addListenAddress);
    if (rights != null) {
      builder.addTransportFilter(rights.connections());
    }
    return servesNode ? builder.callExecutor(IndexServices.nodeCallExecutor()) : builder;
  }

  /** Refuses a node of which one of listening and announcing is for other hosts, and one is not. */
  private void checkReached() {
    if (bound == null && advertised != null && !isLoopback(advertised)) {
      throw misuse(
          "--advertise "
              + advertised
              + " needs --bind: by default, a server listens at loopback addresses alone. --bind "
              + advertised
              + " listens there, --bind :: on all interfaces");
    }
    if (advertised == null && !addresses.stream().allMatch(InetAddress::isLoopbackAddress)) {
      throw misuse(
          "--bind "
              + String.join(",", bound)
              + " needs --advertise in a cluster: the host by which nodes and clients reach this"
              + " one");
    }
  }

  private static boolean isLoopback(String name) {
    try {
      return LOOPBACK.containsAll(addressesOf(name));
    } catch (UnknownHostException e) {
      return false;
    }
  }

  private static List<InetAddress> addressesOf(String name) throws UnknownHostException {
    if (name.isBlank()) { // which is loopback for the JDK
      throw new UnknownHostException(name);
    }
    return name.equals(LOCALHOST) ? LOOPBACK : List.of(InetAddress.getAllByName(name));
  }

  /** Whether a server can listen at an address, as far as interfaces show it. */
  private static boolean isHere(InetAddress address) {
    try {
      return address.isAnyLocalAddress()
          || (address instanceof Inet4Address && address.isLoopbackAddress()) // all of 127.0.0.0/8
          || NetworkInterface.getByInetAddress(address) != null;
    } catch (SocketException e) {
      return true; // the attempt will show it
    }
  }

  private static InetAddress address(int... bytes) {
    final byte[] address = new byte[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      address[i] = (byte) bytes[i];
    }
    try {
      return InetAddress.getByAddress(LOCALHOST, address);
    } catch (UnknownHostException e) {
      throw new AssertionError("the length of an address: " + bytes.length, e);
    }
  }

  private ParameterException misuse(String text) {
    return new ParameterException(spec.commandLine(), text);
  }
}
