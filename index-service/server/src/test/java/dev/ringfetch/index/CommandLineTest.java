package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.GatePage;
import dev.ringfetch.index.data.Claim;
import dev.ringfetch.index.data.DataDirectory;
import dev.ringfetch.rpc.Authority;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CommandLineTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @Test
  void helpNamesEveryOption() {
    assertEquals(0, execute("--help-all"));
    for (final String option :
        new String[] {
          "--port",
          "50051",
          "--bind",
          "--metrics",
          "--direct",
          "--memory",
          "1G",
          "--partitions",
          "16",
          "--data",
          "--takeover",
          "--direct-reads",
          "UNLESS_INTERCEPTED",
          "--shm-directory",
          "--replication",
          "--help",
          "--version"
        }) {
      assertTrue(out.toString().contains(option), option);
    }
  }

  @Test
  void versionIsTheOneOfTheBuild() {
    assertEquals(0, execute("--version"));
    assertTrue(out.toString().matches("ringfetch index-server \\d+\\.\\d+\\.\\d+\\S*\\R"));
  }

  /** A predecessor that was killed may still be read: no other server has followed. */
  @Test
  void serverThatCannotListenDoesNotMoveTheGate(@TempDir Path data, @TempDir Path shm)
      throws Exception {
    final long incarnation;
    try (DataDirectory predecessor = DataDirectory.open(data, Claim.NONE)) {
      incarnation = predecessor.incarnation();
      predecessor.gate().move(incarnation);
    }
    try (ServerSocket taken = new ServerSocket(0)) {
      assertEquals(
          1, execute("--port=" + taken.getLocalPort(), "--data=" + data, "--shm-directory=" + shm));
    }
    assertTrue(err.toString().contains("cannot listen on port"), err::toString);
    assertEquals(incarnation, GatePage.open(data.resolve("gate")).last());
  }

  @Test
  void serverWhoseMetricsCannotListenDoesNotStart(@TempDir Path data) throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getAllByName("127.0.0.1")[0])) {
      final String at = "127.0.0.1:" + taken.getLocalPort();
      assertFails(
          "cannot listen for metrics at " + at + ": Address already in use",
          "--metrics=" + taken.getLocalPort(),
          "--data=" + data);
      assertEquals(0, data.toFile().list().length);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--port=-1",
        "--port=65536",
        "--port=http",
        "--metrics=-1",
        "--metrics=65536",
        "--metrics=http",
        "--prot=1",
        "--audit-from=some",
        "--replication=two-sided",
        "50051",
        "--memory=much",
        "--memory=4X",
        "--memory=99999999T",
        "--memory=1048576",
        "--partitions=0",
        "--partitions=24",
        "--partitions=2048",
        "--node-timeout=199",
        "--node-timeout=60001",
        "--node-timeout=soon",
        "--spin-time=-1",
        "--spin-time=soon",
        "--fabric=foo",
        "--fabric=",
        "--direct-reads=sometimes",
        "--bind=",
        "--bind=203.0.113.7",
        "--advertise=",
        "--advertise=host:5",
        "--advertise=bad host",
        "--advertise=::1::",
        "--advertise=http://host"
      })
  void wrongCommandLineIsRefused(String argument) {
    assertEquals(2, execute(argument));
    final List<String> lines = err.toString().lines().toList();
    assertTrue(lines.get(0).contains(argument.replaceAll(".*=", "")), lines::toString);
    assertTrue(lines.get(0).contains(argument.replaceAll("=.*", "")), lines::toString);
    assertEquals("Options: index-server --help", lines.get(lines.size() - 1));
    assertFalse(err.toString().contains("\tat "), lines::toString);
  }

  @Test
  void aNodeThatOthersCannotReachIsRefusedBeforeItDoesAnything(@TempDir Path data) {
    assertEquals(
        2, execute("--cluster=zk://localhost:1/x", "--advertise=203.0.113.7", "--data=" + data));
    assertTrue(err.toString().contains("--bind 203.0.113.7"), err::toString);
    assertEquals(0, data.toFile().list().length);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--tls-cert=a.pem|--tls-cert and --tls-key need each other",
        "--tls-key=a.pem|--tls-cert and --tls-key need each other",
        "--audit=log|--audit needs --users",
        "--users=a --cluster=zk://localhost:1/x|--users with --cluster needs --tls-cert",
        "--tls-ca=a.pem|--tls-ca of a server needs --tls-cert and --tls-key",
        "--cluster=zk://localhost:1/x --tls-cert=a.pem --tls-key=b.pem|needs --tls-ca"
      })
  void optionsThatNeedOthersAreRefused(String given) {
    final String[] parts = given.split("\\|", -1);
    assertEquals(2, execute(parts[0].split(" ", -1)));
    assertTrue(err.toString().contains(parts[1]), err::toString);
  }

  @Test
  void tlsFilesThatCannotBeUsedEndTheServer(@TempDir Path directory) throws Exception {
    final Path certificate = directory.resolve("cert.pem");
    final Path key = directory.resolve("key.pem");
    final String missing = "TLS: " + key + ": No such file or directory";
    assertFails(missing, "--tls-cert=" + certificate, "--tls-key=" + key);
    new Authority("authority").issue("server").write(certificate, key);
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-r--r--"));
    assertFails(
        "other users can read or change the file, so it is not used: chmod o= " + key,
        "--tls-cert=" + certificate,
        "--tls-key=" + key);
  }

  @Test
  void usersFilesThatCannotBeUsedEndTheServer(@TempDir Path directory) throws Exception {
    final Path users = directory.resolve("users");
    assertFails("users: " + users + ": No such file or directory", "--users=" + users);
    Files.writeString(users, "# comment\nann certificate reed:*\n");
    Files.setPosixFilePermissions(users, PosixFilePermissions.fromString("rw-r--r--"));
    assertFails(
        "users: other users can read or change the file, so it is not used: chmod o= " + users,
        "--users=" + users);
    Files.setPosixFilePermissions(users, PosixFilePermissions.fromString("rw-r-----"));
    assertFails(
        "users: "
            + users
            + ":2: part 3: no right: read:INDEX, write:INDEX or admin:INDEX, where INDEX may be"
            + " PREFIX*",
        "--users=" + users);
    Files.writeString(users, "ann certificate read:*\n");
    final Path missing = directory.resolve("no/audit");
    assertFails(
        "users: --audit: " + missing + ": No such file or directory",
        "--users=" + users,
        "--audit=" + missing);
  }

  @Test
  void directoryThatCannotBeUsedIsNamedWithTheReason(@TempDir Path directory) throws Exception {
    final Path file = Files.createFile(directory.resolve("file"));
    final Path missing = directory.resolve("a/b");
    assertFails(
        "the directory that is to hold it does not exist: data=" + missing, "--data=" + missing);
    assertFails("not a directory: data=" + file, "--data=" + file);
    final Path below = file.resolve("below");
    assertFails(below + ": Not a directory", "--data=" + below);
  }

  /** The server would serve without rings; not so if an option has asked for them. */
  @Test
  void fabricThatIsAskedForAndCannotBeUsedEndsTheServer(@TempDir Path directory) {
    final Path missing = directory.resolve("a");
    assertFails("not a directory: directory=" + missing, "--shm-directory=" + missing);
  }

  private void assertFails(String reason, String... options) {
    err.getBuffer().setLength(0);
    final List<String> all = new ArrayList<>(List.of("--port=0"));
    all.addAll(List.of(options));
    assertEquals(1, execute(all.toArray(String[]::new)));
    final List<String> lines = err.toString().lines().toList();
    assertEquals(1, lines.size(), lines::toString);
    assertTrue(lines.get(0).startsWith("index server: "), lines::toString);
    assertTrue(lines.get(0).contains(reason), lines::toString);
  }

  private int execute(String... arguments) {
    return IndexServer.commandLine()
        .setOut(new PrintWriter(out, true))
        .setErr(new PrintWriter(err, true))
        .execute(arguments);
  }
}
