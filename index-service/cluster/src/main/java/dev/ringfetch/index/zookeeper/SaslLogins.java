package dev.ringfetch.index.zookeeper;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.AppConfigurationEntry.LoginModuleControlFlag;
import javax.security.auth.login.Configuration;
import org.apache.zookeeper.server.auth.DigestLoginModule;

/**
 * The users of SASL with whom connections to ZooKeeper log in. ZooKeeper's client takes a user from
 * the JVM's login configuration alone, by a name, so this adds names to that one and leaves the
 * others to the former one, which the JVM has read from a file, for example. It reads that anew for
 * a name that is not there: the application may have set the file meanwhile.
 *
 * <p>Safe for use by many threads.
 */
final class SaslLogins extends Configuration {
  private static final Map<String, AppConfigurationEntry[]> LOGINS = new ConcurrentHashMap<>();

  private final Configuration former;

  private SaslLogins(Configuration former) {
    this.former = former;
  }

  /**
   * Adds a user, or replaces the one of the same source; returns the name of the login.
   *
   * @throws IOException if the JVM's login configuration cannot be read
   */
  static synchronized String put(String source, String user, String password) throws IOException {
    final String name = "ringfetch:" + source;
    LOGINS.put(
        name,
        new AppConfigurationEntry[] {
          new AppConfigurationEntry(
              DigestLoginModule.class.getName(),
              LoginModuleControlFlag.REQUIRED,
              Map.of("username", user, "password", password))
        });
    final Configuration present = present();
    if (!(present instanceof SaslLogins)) {
      setConfiguration(new SaslLogins(present));
    }
    return name;
  }

  private static Configuration present() throws IOException {
    try {
      return getConfiguration();
    } catch (SecurityException e) {
      throw new IOException("the JVM's login configuration cannot be read", e);
    }
  }

  @Override
  public AppConfigurationEntry[] getAppConfigurationEntry(String name) {
    final AppConfigurationEntry[] own = LOGINS.get(name);
    if (own != null) {
      return own;
    }
    final AppConfigurationEntry[] others = former.getAppConfigurationEntry(name);
    if (others != null) {
      return others;
    }
    former.refresh();
    return former.getAppConfigurationEntry(name);
  }

  @Override
  public void refresh() {
    former.refresh();
  }
}
