package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.GatePage;
import dev.ringfetch.index.data.DataDirectory;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.ServerSocket;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CommandLineTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @Test
  void helpNamesEveryOption() {
    assertEquals(0, execute("--help"));
    for (final String option :
        new String[] {
          "--port",
          "50051",
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
    try (DataDirectory predecessor = DataDirectory.open(data, false)) {
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

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--port=-1",
        "--port=65536",
        "--port=http",
        "--prot=1",
        "50051",
        "--memory=much",
        "--memory=4X",
        "--memory=99999999T",
        "--memory=1048576",
        "--partitions=0",
        "--partitions=24",
        "--partitions=2048",
        "--direct-reads=sometimes"
      })
  void wrongCommandLineIsRefused(String argument) {
    assertEquals(2, execute(argument));
    final String firstLine = err.toString().lines().findFirst().orElseThrow();
    assertTrue(firstLine.contains(argument.replaceAll(".*=", "")), firstLine);
  }

  private int execute(String... arguments) {
    return IndexServer.commandLine()
        .setOut(new PrintWriter(out, true))
        .setErr(new PrintWriter(err, true))
        .execute(arguments);
  }
}
