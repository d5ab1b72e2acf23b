package dev.ringfetch.rdma.suite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PinnedTestsTest {
  @TempDir Path directory;

  private final ByteArrayOutputStream said = new ByteArrayOutputStream();
  private PinnedTests pinned;

  @BeforeEach
  void list() throws IOException {
    pinned = new PinnedTests(directory.resolve("list"), directory.resolve("output/list"));
    Files.write(pinned.list(), List.of("A.one", "A.two"));
  }

  private boolean check(boolean passed, String... executed) throws IOException {
    said.reset();
    return pinned.check(
        new TreeSet<>(List.of(executed)),
        passed,
        new PrintStream(said, true, StandardCharsets.UTF_8));
  }

  private String said() {
    return said.toString(StandardCharsets.UTF_8);
  }

  @Test
  void aTestThatIsMissingIsNamed() throws IOException {
    assertFalse(check(true, "A.two", "B.one"));
    assertEquals(List.of("not executed: A.one", "not on the list: B.one"), said().lines().toList());
  }

  @Test
  void moreThanTheListNamesIsNoFailure() throws IOException {
    assertTrue(check(true, "A.one", "A.two"));
    assertEquals("", said());
    assertTrue(check(true, "A.one", "A.two", "B.one"));
  }

  @Test
  void withoutAListNothingHasPassed() throws IOException {
    Files.delete(pinned.list());
    assertFalse(check(true, "A.one"));
    assertTrue(said().contains("there is no list"), this::said);
  }

  @Test
  void onlyARunThatPassesIsWritten() throws IOException {
    assertTrue(check(false, "A.one", "A.two"));
    assertFalse(Files.exists(pinned.written()));
    assertTrue(check(true, "A.two", "A.one", "B.one"));
    assertEquals(List.of("A.one", "A.two", "B.one"), Files.readAllLines(pinned.written()));
  }
}
