package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.ringfetch.rdma.natives.NativeLibrary;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import picocli.CommandLine;

final class VerbsBenchTest {
  @Test
  @ResourceLock(Resources.SYSTEM_ERR)
  void saysInOneLineThatThereIsNoDevice() {
    final String reason = NativeLibrary.unavailableBecause();
    assumeFalse(reason.isEmpty(), "there is a device");
    final PrintStream before = System.err;
    final ByteArrayOutputStream err = new ByteArrayOutputStream();
    final int code;
    try {
      System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
      code = new CommandLine(new Bench()).execute("verbs");
    } finally {
      System.setErr(before);
    }
    assertEquals(CommandLine.ExitCode.SOFTWARE, code);
    assertEquals(
        "bench verbs: RDMA is not available: " + reason + "\n",
        err.toString(StandardCharsets.UTF_8));
  }

  @Test
  void unknownPeerIsRefused() {
    assertRefused("nobody", "--peers", "raw,nobody");
  }

  @Test
  void addressOfAnotherHostIsRefused() {
    assertRefused("192.0.2.1", "--address", "192.0.2.1"); // of a network for documentation
  }

  private static void assertRefused(String why, String option, String value) {
    final StringWriter err = new StringWriter();
    final CommandLine command = new CommandLine(new Bench()).setErr(new PrintWriter(err));
    assertEquals(CommandLine.ExitCode.USAGE, command.execute("verbs", option, value));
    assertTrue(err.toString().lines().findFirst().orElse("").contains(why), err::toString);
  }
}
