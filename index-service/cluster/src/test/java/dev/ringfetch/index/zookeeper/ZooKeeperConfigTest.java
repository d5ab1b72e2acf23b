package dev.ringfetch.index.zookeeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.Configuration;
import org.apache.zookeeper.client.ZKClientConfig;
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

  @Test
  void aLoginOfTheJvmIsAUser() throws IOException {
    assertTrue(read("zookeeper.sasl.clientconfig = Client\n").hasUser());
  }

  @Test
  void aWrongFileIsRefused() throws IOException {
    assertRefused("zookeper.client.secure = true\n", "no property 'zookeper.client.secure'");
    assertRefused("user = ann\n", "need each other");
    assertRefused("password = secret\n", "need each other");
    assertRefused("password = \\u12 secret\n", "no file of properties");
    final Path file = file("user = ann\npassword = secret\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
    final IOException refused = assertThrows(IOException.class, () -> ZooKeeperConfig.read(file));
    assertTrue(refused.getMessage().contains("other users can read"), refused::getMessage);
  }

  @ParameterizedTest
  @ValueSource(strings = {"zk://a:1/c?file=x", "zk://a:1/?config=x", "zk:///c?config=x"})
  void aWrongAddressIsRefused(String address) {
    assertThrows(
        IllegalArgumentException.class, () -> new ZooKeeperProvider().open(URI.create(address)));
  }
}
