package dev.ringfetch.index.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;

/** What became of a command. */
record Outcome(int code, String out, String err) {
  /** Fails unless the command was successful and printed this. */
  void prints(String... lines) {
    assertEquals(List.of(lines), out.lines().toList(), err);
    assertEquals(ExitCode.OK, code, err);
  }

  /** Fails unless the command was successful; returns what it printed. */
  String done() {
    assertEquals(ExitCode.OK, code, this::toString);
    return out;
  }

  /** Fails unless the command ended so, with one line on stderr that has all of these words. */
  Outcome fails(int expected, String... words) {
    assertEquals(expected, code, this::toString);
    assertEquals(1, err.lines().count(), err);
    return says(words);
  }

  /** Fails unless stderr has all of these words, and no stack trace. */
  Outcome says(String... words) {
    for (final String word : words) {
      assertTrue(err.contains(word), () -> word + " is not in: " + err);
    }
    assertFalse(err.contains("\tat "), err);
    return this;
  }
}
