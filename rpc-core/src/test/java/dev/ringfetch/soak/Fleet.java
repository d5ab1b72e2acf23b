package dev.ringfetch.soak;

import dev.ringfetch.rpc.Ports;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;

/**
 * The processes of a soak, and which of them may be killed:
 *
 * <pre>
 *   steady server  <--- witness (never killed; requires a ring: not one of its calls may fail)
 *                  <--- visitor (killed)
 *   mortal server  <--- loyal   (never killed)
 *      (killed)    <--- strict  (never killed; requires a ring, its callbacks run in the poller)
 *                  <--- mortal  (killed; requires a ring)
 * </pre>
 */
final class Fleet implements AutoCloseable {
  /** Roles, the servers first. */
  enum Role {
    STEADY_SERVER,
    MORTAL_SERVER,
    WITNESS,
    VISITOR,
    LOYAL,
    STRICT,
    MORTAL;

    boolean isServer() {
      return this == STEADY_SERVER || this == MORTAL_SERVER;
    }

    Role server() {
      return this == WITNESS || this == VISITOR ? STEADY_SERVER : MORTAL_SERVER;
    }

    boolean isMortal() {
      return this == MORTAL_SERVER || this == VISITOR || this == MORTAL;
    }

    boolean requiresFabric() {
      return this == WITNESS || this == STRICT || this == MORTAL;
    }

    /** Clients of a server. */
    static List<Role> clientsOf(Role server) {
      return Arrays.stream(values()).filter(r -> !r.isServer() && r.server() == server).toList();
    }
  }

  private final Path directory;
  private final Path logs;
  private final Random random;
  private final Map<Role, Integer> ports = new EnumMap<>(Role.class);
  private final Map<Role, Member> members = new EnumMap<>(Role.class);

  /**
   * Creates a fleet without processes.
   *
   * @param directory of the shared memory.
   */
  Fleet(Path directory, Path logs, Random random) throws IOException {
    this.directory = directory;
    this.logs = logs;
    this.random = random;
    ports.put(Role.STEADY_SERVER, Ports.pick());
    ports.put(Role.MORTAL_SERVER, Ports.pick());
  }

  Path directory() {
    return directory;
  }

  Member get(Role role) {
    return members.get(role);
  }

  /** Starts the process of a role, and awaits that it serves or calls. */
  void start(Role role) throws Exception {
    final List<String> flags = new ArrayList<>(List.of("-Xmx128m", "-XX:+UseSerialGC"));
    if (role.isMortal()) {
      flags.add("-XX:TieredStopAtLevel=1"); // it does not live long enough for more
    }
    final String name = role.name().toLowerCase(Locale.ROOT);
    final Path log = logs.resolve(name + ".log");
    final int port = ports.get(role.isServer() ? role : role.server());
    final Member member =
        role.isServer()
            ? Member.start(
                name,
                log,
                flags,
                SoakServer.class,
                directory.toString(),
                Integer.toString(port),
                Boolean.toString(random.nextBoolean()))
            : Member.start(
                name,
                log,
                flags,
                SoakClient.class,
                directory.toString(),
                Integer.toString(port),
                Boolean.toString(role.requiresFabric()),
                Boolean.toString(role == Role.STRICT),
                Long.toString(random.nextLong()));
    members.put(role, member);
    member.greeting();
  }

  @Override
  public void close() {
    members.values().forEach(Member::close);
  }
}
