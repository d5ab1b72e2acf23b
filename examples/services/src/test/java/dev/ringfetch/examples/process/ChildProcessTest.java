package dev.ringfetch.examples.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

@ResourceLock(Resources.SYSTEM_ERR)
@Timeout(120)
final class ChildProcessTest {
  private static final int EXIT = 3;

  private final PrintStream before = System.err;
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  /** Says something and ends; with an argument, when its input does. */
  static final class Child {
    private Child() {}

    /** Runs it. */
    public static void main(String[] args) throws IOException {
      System.out.println("last words");
      if (args.length > 0) {
        System.in.readAllBytes();
      }
      System.exit(EXIT);
    }
  }

  @BeforeEach
  void takeErrors() {
    System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
  }

  @AfterEach
  void giveErrorsBack() {
    System.setErr(before);
  }

  @Test
  void anEndThatNobodyAskedForIsReported() throws Exception {
    final ChildProcess child = ChildProcess.start(List.of(), Child.class, List.of());
    ProcessHandle.of(child.pid()).ifPresent(process -> process.onExit().join());
    child.close();
    final String end = System.lineSeparator();
    assertEquals(
        "Child, process " + child.pid() + ", has ended: exit=" + EXIT + end + "last words" + end,
        err.toString(StandardCharsets.UTF_8));
    assertEquals("last words", child.readLine()); // each reader gets the end, too
    assertThrows(ChildFailure.class, child::readLine);
  }

  @Test
  void anEndThatWasAskedForIsNot() throws Exception {
    final ChildProcess child = ChildProcess.start(List.of(), Child.class, List.of("wait"));
    child.close();
    child.close(); // has waited for a report
    assertEquals("", err.toString(StandardCharsets.UTF_8));
  }
}
