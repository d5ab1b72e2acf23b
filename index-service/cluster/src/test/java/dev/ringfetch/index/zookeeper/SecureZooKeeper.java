package dev.ringfetch.index.zookeeper;

import dev.ringfetch.rpc.Authority;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.apache.zookeeper.server.embedded.ExitHandler;
import org.apache.zookeeper.server.embedded.ZooKeeperServerEmbedded;

/**
 * A ZooKeeper in a process of its own that takes connections with TLS alone, from clients that show
 * a certificate and log in by SASL.
 */
final class SecureZooKeeper implements AutoCloseable {
  private static final int START_MILLIS = 90_000;

  private final Process process;
  private final int port;

  private SecureZooKeeper(Process process, int port) {
    this.process = process;
    this.port = port;
  }

  /**
   * Starts a server.
   *
   * @param authority of its certificate, and of those of clients
   * @param users as a login configuration has them: {@code user_NAME="PASSWORD"}
   */
  static SecureZooKeeper start(Path directory, Authority authority, String users)
      throws IOException {
    final Path logins =
        Files.writeString(
            directory.resolve("logins"),
            "Server { org.apache.zookeeper.server.auth.DigestLoginModule required "
                + users
                + ";};");
    final Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:TieredStopAtLevel=1",
                "-Djava.security.auth.login.config=" + logins,
                "-Dzookeeper.serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
                "-Dzookeeper.fips-mode=false", // which forbids DIGEST-MD5
                "-Dzookeeper.sessionRequireClientSASLAuth=true",
                "-cp",
                System.getProperty("java.class.path"),
                SecureZooKeeper.class.getName(),
                directory.toString(),
                pem(directory.resolve("server.pem"), "server", authority).toString(),
                authority.write(directory.resolve("server-ca.pem")).toString())
            .redirectError(Redirect.appendTo(directory.resolve("log").toFile()))
            .start();
    final BufferedReader output = process.inputReader();
    final String line = output.readLine(); // the process ends if it does not start in time
    if (line == null) {
      throw new IOException(Files.readString(directory.resolve("log")));
    }
    return new SecureZooKeeper(process, Integer.parseInt(line));
  }

  /** Writes a key and its certificate for this host to one file, as ZooKeeper reads them. */
  static Path pem(Path file, String name, Authority authority) throws IOException {
    final Path certificate = file.resolveSibling(file.getFileName() + ".certificate");
    final Path key = file.resolveSibling(file.getFileName() + ".key");
    authority.issue(name, "127.0.0.1", "localhost").write(certificate, key);
    return Files.writeString(file, Files.readString(key) + Files.readString(certificate));
  }

  int port() {
    return port;
  }

  @Override
  public void close() {
    process.destroyForcibly();
    process.onExit().join();
  }

  /** Runs the server until its input ends. */
  @SuppressWarnings("SystemExitOutsideMain")
  public static void main(String[] arguments) throws Exception {
    final Properties properties = new Properties();
    properties.setProperty("secureClientPortAddress", "127.0.0.1");
    properties.setProperty("secureClientPort", "0");
    properties.setProperty("ssl.keyStore.location", arguments[1]);
    properties.setProperty("ssl.trustStore.location", arguments[2]);
    properties.setProperty(
        "authProvider.sasl", "org.apache.zookeeper.server.auth.SASLAuthenticationProvider");
    properties.setProperty("tickTime", "500");
    properties.setProperty("admin.enableServer", "false");
    final ZooKeeperServerEmbedded server =
        ZooKeeperServerEmbedded.builder()
            .baseDir(Path.of(arguments[0]))
            .configuration(properties)
            .exitHandler(ExitHandler.EXIT)
            .build();
    try {
      server.start(START_MILLIS);
      System.out.println(server.getSecureClientPort());
      System.out.flush();
      while (System.in.read() >= 0) {
        // Only the end of the input matters.
      }
    } finally {
      System.exit(1);
    }
  }
}
