package dev.ringfetch.index.zookeeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.TreeSet;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.Configuration;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ClientX509Util;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files of the configuration of connections, and addresses that name them. */
final class ZooKeeperConfigTest {
  @TempDir private Path directory;

  private Path file(String content) throws IOException {
    final Path file = Files.writeString(directory.resolve("config"), content);
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
  }

  private ZooKeeperConfig read(String content) throws IOException {
    return ZooKeeperConfig.read(file(content));
  }

  private void assertRefused(String content, String reason) {
    final IOException refused = assertThrows(IOException.class, () -> read(content));
    assertTrue(refused.getMessage().contains(reason), refused::getMessage);
    assertTrue(refused.getMessage().endsWith(directory.resolve("config").toString()));
    assertFalse(refused.getMessage().contains("secret"), refused::getMessage);
  }

  @Test
  void propertiesCountForTheirConnectionsAlone() throws IOException {
    final ZKClientConfig client = read("zookeeper.client.secure = true\n").client();
    assertEquals("true", client.getProperty(ZKClientConfig.SECURE_CLIENT));
    assertEquals(
        "org.apache.zookeeper.ClientCnxnSocketNetty",
        client.getProperty(ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET));
    final ZKClientConfig none = ZooKeeperConfig.NONE.client();
    assertNull(none.getProperty(ZKClientConfig.SECURE_CLIENT));
    assertNull(none.getProperty(ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET));
    assertNull(System.getProperty(ZKClientConfig.SECURE_CLIENT));
  }

  @Test
  void aUserIsALoginOfItsOwnAndOthersStay() throws IOException {
    Configuration.setConfiguration(
        new Configuration() {
          @Override
          public AppConfigurationEntry[] getAppConfigurationEntry(String name) {
            return name.equals("Client") ? new AppConfigurationEntry[0] : null;
          }
        });
    final ZooKeeperConfig config = read("user = ann\npassword = secret\n");
    assertTrue(config.hasUser());
    assertFalse(ZooKeeperConfig.NONE.hasUser());
    final String login = config.client().getProperty(ZKClientConfig.LOGIN_CONTEXT_NAME_KEY);
    final Configuration logins = Configuration.getConfiguration();
    assertEquals("ann", logins.getAppConfigurationEntry(login)[0].getOptions().get("username"));
    assertEquals(0, logins.getAppConfigurationEntry("Client").length);
    assertNull(logins.getAppConfigurationEntry("another"));
    final ZooKeeperConfig changed = read("user = ann\npassword = changed\n");
    assertEquals(login, changed.client().getProperty(ZKClientConfig.LOGIN_CONTEXT_NAME_KEY));
    assertEquals("changed", logins.getAppConfigurationEntry(login)[0].getOptions().get("password"));
  }

  /** A newer ZooKeeper may have names that the list lacks. */
  @Test
  void allPropertiesOfZooKeepersClientAreKnown() throws Exception {
    final Set<String> names = new TreeSet<>();
    for (final Field field : ZKClientConfig.class.getFields()) {
      if (field.getType() == String.class && !field.getName().endsWith("_DEFAULT")) {
        names.add((String) field.get(null));
      }
    }
    try (ClientX509Util tls = new ClientX509Util()) {
      for (final Method method : ClientX509Util.class.getMethods()) {
        if (method.getName().matches("get.*Property")) {
          names.add((String) method.invoke(tls));
        }
      }
    }
    names.removeIf(name -> !name.startsWith("zookeeper."));
    assertTrue(names.size() > 30, names::toString);
    for (final String name : names) {
      read("zookeeper.client.secure = true\n" + name + " = true\n");
    }
  }

  @Test
  void aFileOfLoginsMayComeLater() throws IOException {
    final String property = "java.security.auth.login.config";
    assertNull(System.getProperty(property));
    Configuration.setConfiguration(null); // as in a JVM that has just begun
    try {
      read("user = ann\npassword = secret\n");
      assertNull(Configuration.getConfiguration().getAppConfigurationEntry("Late"));
      final Path logins = directory.resolve("logins");
      System.setProperty(property, logins.toString());
      assertThrows(
          SecurityException.class,
          () -> Configuration.getConfiguration().getAppConfigurationEntry("Late"));
      Files.writeString(logins, "Late { org.example.Login required; };");
      final AppConfigurationEntry[] late =
          Configuration.getConfiguration().getAppConfigurationEntry("Late");
      assertEquals("org.example.Login", late[0].getLoginModuleName());
      Files.delete(logins);
      Configuration.setConfiguration(null);
      final IOException refused =
          assertThrows(IOException.class, () -> read("user = ann\npassword = secret\n"));
      assertTrue(refused.getMessage().contains("login configuration"), refused::getMessage);
    } finally {
      System.clearProperty(property);
      Configuration.setConfiguration(null);
    }
  }

  @Test
  void aLoginOfTheJvmIsAUser() throws IOException {
    assertTrue(read("zookeeper.sasl.clientconfig = Client\n").hasUser());
  }

  @Test
  void aWrongFileIsRefused() throws IOException {
    assertRefused("zookeper.client.secure = true\n", "no property 'zookeper.client.secure'");
    assertRefused("zookeeper.client.secured = true\n", "no property 'zookeeper.client.secured'");
    assertRefused(
        "zookeeper.client.secure = true\nzookeeper.ssl.truststore.location = ca.pem\n",
        "no property 'zookeeper.ssl.truststore.location'");
    assertRefused("zookeeper.client.secure = ture\n", "neither true nor false");
    assertRefused("zookeeper.ssl.trustStore.location = ca.pem\n", "neither true nor false");
    assertRefused("user = ann\n", "need each other");
    assertRefused("password = secret\n", "need each other");
    assertRefused("password = \\u12 secret\n", "no file of properties");
    final Path file = file("user = ann\npassword = secret\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
    final IOException refused = assertThrows(IOException.class, () -> ZooKeeperConfig.read(file));
    assertTrue(refused.getMessage().contains("other users can read"), refused::getMessage);
  }

  @Test
  void aFileThatCannotBeReadIsNamed() throws IOException {
    final Path absent = directory.resolve("absent");
    assertUnreadable(absent, "there is no file of ?config: " + absent);
    assertUnreadable(directory, "the file of ?config is a directory: " + directory);
    final Path closed = file("zookeeper.client.secure = true\n");
    Files.setPosixFilePermissions(closed, Set.of());
    if (!Files.isReadable(closed)) { // root reads all
      assertUnreadable(closed, "this user cannot read the file of ?config: " + closed);
    }
    final Path bytes = Files.write(file(""), new byte[] {(byte) 0xFF});
    assertUnreadable(bytes, "no file of properties in UTF-8: " + bytes);
  }

  private static void assertUnreadable(Path file, String reason) {
    final URI address = URI.create("zk://a:1/c?config=" + file);
    assertEquals(
        reason,
        assertThrows(IOException.class, () -> new ZooKeeperProvider().open(address)).getMessage());
  }

  @ParameterizedTest
  @ValueSource(strings = {"zk://a:1/c?file=x", "zk://a:1/?config=x", "zk:///c?config=x"})
  void aWrongAddressIsRefused(String address) {
    assertThrows(
        IllegalArgumentException.class, () -> new ZooKeeperProvider().open(URI.create(address)));
  }
}
