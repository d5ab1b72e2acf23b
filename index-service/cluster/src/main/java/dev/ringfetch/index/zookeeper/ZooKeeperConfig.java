package dev.ringfetch.index.zookeeper;

import dev.ringfetch.index.files.ChangingFiles;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.X509Util;

/**
 * The configuration of connections to ZooKeeper: properties of ZooKeeper's client by their own
 * names, such as those of TLS, and the user of SASL. It counts for these connections alone.
 *
 * <p>Immutable.
 */
public final class ZooKeeperConfig {
  /** Plaintext, and no user. */
  public static final ZooKeeperConfig NONE = new ZooKeeperConfig(Map.of());

  /** The properties that ZooKeeper's client knows. */
  private static final Set<String> NAMES =
      Set.of(
          "zookeeper.client.secure",
          "zookeeper.clientCnxnSocket",
          "zookeeper.disableAutoWatchReset",
          "zookeeper.fips-mode",
          "zookeeper.kinit",
          "zookeeper.request.timeout",
          "zookeeper.sasl.client",
          "zookeeper.sasl.client.canonicalize.hostname",
          "zookeeper.sasl.client.username",
          "zookeeper.sasl.clientconfig",
          "zookeeper.server.principal",
          "zookeeper.server.realm",
          "zookeeper.ssl.allowReverseDnsLookup",
          "zookeeper.ssl.authProvider",
          "zookeeper.ssl.ciphersuites",
          "zookeeper.ssl.clientAuth",
          "zookeeper.ssl.clientHostnameVerification",
          "zookeeper.ssl.context.supplier.class",
          "zookeeper.ssl.crl",
          "zookeeper.ssl.enabledProtocols",
          "zookeeper.ssl.handshakeDetectionTimeoutMillis",
          "zookeeper.ssl.hostnameVerification",
          "zookeeper.ssl.keyStore.location",
          "zookeeper.ssl.keyStore.password",
          "zookeeper.ssl.keyStore.passwordPath",
          "zookeeper.ssl.keyStore.type",
          "zookeeper.ssl.ocsp",
          "zookeeper.ssl.protocol",
          "zookeeper.ssl.sslProvider",
          "zookeeper.ssl.trustStore.location",
          "zookeeper.ssl.trustStore.password",
          "zookeeper.ssl.trustStore.passwordPath",
          "zookeeper.ssl.trustStore.type");

  private static final String TLS_PREFIX = "zookeeper.ssl.";
  private static final String USER = "user";
  private static final String PASSWORD = "password";

  /** The only socket of ZooKeeper's client that knows TLS; its class needs netty. */
  private static final String NETTY_SOCKET = "org.apache.zookeeper.ClientCnxnSocketNetty";

  private final Map<String, String> properties;

  private ZooKeeperConfig(Map<String, String> properties) {
    this.properties = properties;
  }

  /**
   * Reads a file of properties: those of ZooKeeper's client, {@code user} and {@code password}.
   *
   * @throws IOException if it cannot be read, has another property, one of user and password alone,
   *     or properties of TLS without saying whether it is used, or if other users can read or
   *     change it
   */
  public static ZooKeeperConfig read(Path file) throws IOException {
    final Properties read = load(file);
    final Map<String, String> properties = new TreeMap<>();
    for (final String name : read.stringPropertyNames()) {
      if (!NAMES.contains(name) && !name.equals(USER) && !name.equals(PASSWORD)) {
        throw new IOException(
            "there is no property '"
                + name
                + "', only those of ZooKeeper's client, user and password: "
                + file);
      }
      properties.put(name, read.getProperty(name).strip());
    }
    final boolean isTls =
        properties.keySet().stream().anyMatch(name -> name.startsWith(TLS_PREFIX));
    final String secure =
        properties.getOrDefault(ZKClientConfig.SECURE_CLIENT, isTls ? "" : "false");
    if (!secure.equals("true") && !secure.equals("false")) {
      throw new IOException(ZKClientConfig.SECURE_CLIENT + " is neither true nor false: " + file);
    }
    final String user = properties.remove(USER);
    final String password = properties.remove(PASSWORD);
    if ((user == null) != (password == null)) {
      throw new IOException("user and password need each other: " + file);
    }
    if (user != null) {
      properties.put(
          ZKClientConfig.LOGIN_CONTEXT_NAME_KEY,
          SaslLogins.put(file.toAbsolutePath().toString(), user, password));
      properties.putIfAbsent(X509Util.FIPS_MODE_PROPERTY, "false"); // which forbids DIGEST-MD5
    }
    if (secure.equals("true")) {
      properties.putIfAbsent(ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, NETTY_SOCKET);
    }
    return new ZooKeeperConfig(properties);
  }

  private static Properties load(Path file) throws IOException {
    if (Files.isDirectory(file)) {
      throw new IOException("the file of ?config is a directory: " + file);
    }
    final Properties read = new Properties();
    try {
      ChangingFiles.checkSecret(file);
      try (Reader reader = Files.newBufferedReader(file)) {
        read.load(reader);
      }
    } catch (NoSuchFileException e) {
      throw new IOException("there is no file of ?config: " + file, e);
    } catch (AccessDeniedException e) {
      throw new IOException("this user cannot read the file of ?config: " + file, e);
    } catch (CharacterCodingException | IllegalArgumentException e) { // of an escape
      throw new IOException("no file of properties in UTF-8: " + file, e);
    }
    return read;
  }

  /** The properties of a client, with those of the JVM as defaults. */
  ZKClientConfig client() {
    final ZKClientConfig client = new ZKClientConfig();
    properties.forEach(client::setProperty);
    return client;
  }

  /** Whether clients log in by SASL: their znodes are then theirs alone. */
  boolean hasUser() {
    return properties.containsKey(ZKClientConfig.LOGIN_CONTEXT_NAME_KEY);
  }
}
