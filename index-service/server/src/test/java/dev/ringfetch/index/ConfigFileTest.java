package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The options of a server in a file and in the environment. */
final class ConfigFileTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @TempDir Path directory;
  private Path file;

  @BeforeEach
  void name() {
    file = directory.resolve("ringfetch.conf");
  }

  private void write(String... lines) throws IOException {
    Files.write(file, List.of(lines));
  }

  private int execute(Map<String, String> environment, String... arguments) {
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    return IndexServer.commandLine()
        .setDefaultValueProvider(new ServerDefaults(environment))
        .setOut(new PrintWriter(out))
        .setErr(new PrintWriter(err))
        .execute(arguments);
  }

  /** The lines of the configuration that counts. */
  private List<String> printed(Map<String, String> environment, String... arguments) {
    final List<String> all = new ArrayList<>(List.of(arguments));
    all.add("--print-config");
    assertEquals(0, execute(environment, all.toArray(String[]::new)), err::toString);
    return out.toString().lines().toList();
  }

  private void refused(String reason, Map<String, String> environment, String... arguments) {
    assertEquals(2, execute(environment, arguments));
    final List<String> lines = err.toString().lines().toList();
    assertTrue(lines.get(0).startsWith("index-server: " + reason), lines::toString);
    assertEquals(2, lines.size(), lines::toString);
  }

  @Test
  void theCommandLineComesBeforeTheEnvironmentAndThatBeforeTheFile() throws Exception {
    write("# a comment", "", "port = 1", " memory=64m ", "bind = ::1, localhost", "replicas = 5");
    final Map<String, String> environment =
        Map.of("RINGFETCH_PORT", "2", "RINGFETCH_MEMORY", "65m", "RINGFETCH_REPLICAS", "");
    final List<String> lines =
        printed(environment, "--config=" + file, "--port=3", "--fabric=shm, verbs");
    assertTrue(
        lines.containsAll(
            List.of(
                "port = 3",
                "memory = 65m",
                "bind = ::1, localhost",
                "replicas = 5",
                "sync-interval = 10",
                "fabric = shm, verbs",
                "# data =")),
        lines::toString);
  }

  /** The error is that of the option that is looked at after them. */
  @Test
  void aListMayHaveSpaces() throws Exception {
    write("bind = 127.0.0.1 , localhost", "fabric = shm, verbs");
    refused("--metrics is out of range", Map.of(), "--config=" + file, "--metrics=99999");
  }

  @Test
  void whatIsPrintedIsAFileOfTheSameConfiguration() throws Exception {
    final List<String> lines =
        printed(Map.of(), "--port=0", "--takeover", "--direct-reads=never", "--data=" + directory);
    Files.write(file, lines);
    assertEquals(lines, printed(Map.of(), "--config=" + file));
    assertEquals(lines, printed(Map.of("RINGFETCH_CONFIG", file.toString())));
    assertFalse(lines.toString().contains("null"), lines::toString);
  }

  /** A flag of the command line would turn a flag of the file around, as picocli has it. */
  @Test
  void aFlagInTheFileAndOnTheCommandLineIsSet() throws Exception {
    write("takeover = true", "direct = false");
    final List<String> lines = printed(Map.of(), "--config=" + file, "--takeover", "--direct");
    assertTrue(lines.containsAll(List.of("takeover = true", "direct = true")), lines::toString);
    write("takeover = true", "adopt-copy = true");
    assertEquals(
        2,
        execute(Map.of(), "--config=" + file, "--takeover", "--cluster=zk://localhost:1/a"),
        out::toString);
    assertTrue(err.toString().contains("--adopt-copy is for a server without"), err::toString);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "prot = 5|there is no option 'prot'",
        "--port = 5|there is no option '--port'",
        "config = x|there is no option 'config'",
        "help-all = true|there is no option 'help-all'",
        "port|not NAME = VALUE: 'port'",
        "port =|port has no value",
        "port = x|Invalid value for option '--port'",
        "port = 99999|--port is out of range: 99999",
        "memory = 1m|--memory is too small",
        "takeover = maybe|Invalid value for option '--takeover'",
        "durability = disk|--durability DISK needs --data",
        "tls-cert = a|--tls-cert and --tls-key need each other",
        "metrics = 99999|--metrics is out of range"
      })
  void aWrongLineIsNamedWithItsReason(String given) throws Exception {
    final String[] parts = given.split("\\|", -1);
    write("# first", parts[0]);
    refused(file + ":2: " + parts[1], Map.of(), "--config=" + file);
  }

  @Test
  void aNameThatIsSetTwiceIsRefused() throws Exception {
    write("port = 1", "port = 2");
    refused(file + ":2: port is set already in line 1", Map.of(), "--config=" + file);
  }

  @Test
  void aFileThatCannotBeReadIsNamed() throws Exception {
    refused(file + ": No such file or directory", Map.of(), "--config=" + file);
    refused(file + ": No such file", Map.of("RINGFETCH_CONFIG", file.toString()));
    refused(directory + ": Is a directory", Map.of(), "--config=" + directory);
    Files.write(file, "port = \u00e9".getBytes(StandardCharsets.ISO_8859_1));
    refused(file + ": not UTF-8", Map.of(), "--config=" + file);
  }

  @Test
  void aWrongVariableIsNamed() throws Exception {
    refused("RINGFETCH_PORT: Invalid value for option '--port'", Map.of("RINGFETCH_PORT", "http"));
    // The error is that of the command line.
    refused("Invalid value for option '--port'", Map.of("RINGFETCH_PORT", "1"), "--port=http");
    write("port = 1");
    refused("--port is out of range", Map.of(), "--config=" + file, "--port=99999");
  }

  /** A misspelt one would else serve with another configuration than its operator believes. */
  @Test
  void aVariableOfNoOptionIsNamedAndIgnored() {
    printed(
        Map.of(
            "RINGFETCH_DURABILTY", "disk",
            "RINGFETCH_PRINT_CONFIG", "false",
            "RINGFETCH_MEMROY", "",
            "RINGFETCHES", "1"));
    assertEquals(
        "index server: ignores variables of no option: RINGFETCH_DURABILTY,"
            + " RINGFETCH_PRINT_CONFIG",
        err.toString().strip());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "CACHE",
        "DROPIN",
        "INDEX",
        "JVM_FLAGS",
        "SERVER",
        "TRACE", // of clients, and of scripts
        "SERVICE_HOST",
        "SERVICE_PORT_GRPC",
        "PORT_50051_TCP_ADDR",
        "A_SERVICE_PORT",
        "A_PORT"
      })
  void variablesOfOtherProgramsAreNoMistakes(String name) {
    printed(Map.of("RINGFETCH_" + name, "1"));
    assertEquals("", err.toString());
  }

  /** Kubernetes sets such variables in each container where a Service is called ringfetch. */
  @Test
  void thePortOfAServiceOfKubernetesIsNoPort() {
    final List<String> lines = printed(Map.of("RINGFETCH_PORT", "tcp://10.0.0.11:50051"));
    assertTrue(lines.contains("port = 50051"), lines::toString);
  }
}
