package dev.ringfetch.index.cli;

import dev.ringfetch.index.TlsOptions;
import dev.ringfetch.index.client.NodeFinder;
import dev.ringfetch.index.tls.TlsFiles;
import io.grpc.ChannelCredentials;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of all commands that talk to a server. */
@SuppressWarnings("UnusedVariable") // picocli looks at one, the program for the name of another
final class ServerOptions {
  static final String SERVER = "--server";

  /** Their position in the help: last. */
  private static final int ORDER = 100;

  @Option(
      names = {"-s", SERVER},
      order = ORDER + 0,
      paramLabel = "HOST:PORT",
      completionCandidates = Completion.Nodes.class,
      converter = ServerAddress.class,
      description = "Index server, or nodes of a cluster: A:1,B:2.")
  private String server;

  @Option(
      names = "--timeout",
      order = ORDER + 1,
      paramLabel = "TIME",
      defaultValue = "5s",
      converter = TimeSpan.class,
      description = "Of each call: 500ms, 5s or 2m. Default: 5s.")
  private Duration timeout;

  @Option(
      names = "--shm-directory",
      order = ORDER + 2,
      paramLabel = "PATH",
      description = "The server's, of shared memory. Default: /dev/shm.")
  private Path shmDirectory;

  @Mixin private TlsOptions tls; // between these by their own order
  @Mixin private UserOptions user;

  @Option(names = "--json", order = ORDER + 8, description = "Print JSON, one object a line.")
  private boolean json;

  @Option(
      names = "--verbose",
      order = ORDER + 9,
      description = "Print stack traces, as RINGFETCH_TRACE=1 does.")
  private boolean verbose;

  @Option(
      names = {"-h", "--help"},
      order = ORDER + 10,
      usageHelp = true,
      description = "Print this, and exit.")
  private boolean help;

  String server() {
    return server;
  }

  /**
   * The addresses of the server, or of nodes of a cluster; asks the coordinator for them if the
   * option names one.
   */
  List<String> addresses() {
    try {
      return NodeFinder.addresses(server, timeout);
    } catch (IllegalArgumentException e) {
      throw CommandFailure.misuse(e.getMessage());
    } catch (IllegalStateException e) { // of a coordinator that does not name the nodes
      throw new CommandFailure(ExitCode.UNREACHABLE, e.getMessage(), e);
    }
  }

  Duration timeout() {
    return timeout;
  }

  /** The options of TLS and of the user that are set, with their values. */
  Map<String, String> identity() {
    final Map<String, String> given = user.given();
    given.putAll(tls.given());
    return given;
  }

  /** The options of the user. */
  UserOptions user() {
    return user;
  }

  /** The credentials of TLS; null for plaintext. */
  ChannelCredentials credentials() {
    try {
      final TlsFiles files = tls.read();
      return files == null ? null : files.channel();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The directory of shared memory; null for the default. */
  Path shmDirectory() {
    return shmDirectory;
  }

  boolean isJson() {
    return json;
  }
}
