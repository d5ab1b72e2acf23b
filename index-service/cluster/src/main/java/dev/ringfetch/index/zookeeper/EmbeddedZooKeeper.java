package dev.ringfetch.index.zookeeper;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.zookeeper.server.embedded.ExitHandler;
import org.apache.zookeeper.server.embedded.ZooKeeperServerEmbedded;

/**
 * The program of a ZooKeeper server for clusters on one machine: a single server, so the cluster's
 * coordination stops while it is down, and its data is lost with its disk.
 *
 * <p>It takes the data directory, the address to listen at and the port (0 for any), prints one
 * line {@code zookeeper listening on ADDRESS:PORT}, and runs until its standard input ends or a
 * signal comes. Without an administration server and without four-letter words. {@link
 * ZooKeeperProcess} starts it.
 */
public final class EmbeddedZooKeeper {
  static final String READY = "zookeeper listening on ";

  private static final long START_SECONDS = 60;

  /** Sessions of up to 20 s; from 2 ticks on. */
  private static final int TICK_MILLIS = 500;

  private static final int SESSION_MILLIS_MAX = 20_000;

  private static final int LOG_PREALLOCATED_KIB = 1024;

  /** Kept in a field: an unreferenced logger loses its level. */
  private static final Logger ZOOKEEPER = Logger.getLogger("org.apache.zookeeper");

  private EmbeddedZooKeeper() {}

  /** Runs the program. */
  @SuppressWarnings("SystemExitOutsideMain")
  public static void main(String[] arguments) throws Exception {
    if (arguments.length != 3) {
      System.err.println("arguments: DATA_DIRECTORY ADDRESS PORT");
      System.exit(2);
    }
    if (System.getProperty("java.util.logging.config.file") == null) {
      ZOOKEEPER.setLevel(Level.WARNING);
    }
    final Path directory = Path.of(arguments[0]).toAbsolutePath();
    Files.createDirectories(directory);
    deleteConfigurations(directory);
    final ZooKeeperServerEmbedded server =
        ZooKeeperServerEmbedded.builder()
            .baseDir(directory)
            .configuration(configuration(arguments[1], arguments[2]))
            .exitHandler(ExitHandler.EXIT)
            .build();
    try {
      server.start(TimeUnit.SECONDS.toMillis(START_SECONDS));
    } catch (TimeoutException e) {
      System.err.println("it does not start within " + START_SECONDS + " s");
      System.exit(1);
    }
    System.out.println(READY + server.getConnectionString());
    System.out.flush();
    while (System.in.read() >= 0) {
      // Only the end of the input matters.
    }
    server.close();
    System.exit(0); // ZooKeeper's threads are still running
  }

  private static Properties configuration(String address, String port) {
    // Classes outside the configuration read this property.
    System.setProperty("zookeeper.4lw.commands.whitelist", "");
    System.setProperty("zookeeper.admin.enableServer", "false");
    System.setProperty("zookeeper.preAllocSize", Integer.toString(LOG_PREALLOCATED_KIB));
    final Properties properties = new Properties();
    properties.setProperty("clientPortAddress", address);
    properties.setProperty("clientPort", port);
    properties.setProperty("tickTime", Integer.toString(TICK_MILLIS));
    properties.setProperty("maxSessionTimeout", Integer.toString(SESSION_MILLIS_MAX));
    properties.setProperty("maxClientCnxns", "0"); // all come from one address
    properties.setProperty("autopurge.purgeInterval", "1");
    properties.setProperty("autopurge.snapRetainCount", "3");
    return properties;
  }

  /** Deletes the configuration files of earlier starts, which are not read again. */
  private static void deleteConfigurations(Path directory) {
    try (DirectoryStream<Path> old =
        Files.newDirectoryStream(directory, "zookeeper.configuration*.properties")) {
      for (final Path file : old) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
