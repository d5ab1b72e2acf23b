package dev.ringfetch.index.linearizability;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.linearizability.Call.Kind;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Two lives, of which the second one's server begins while the first one's memory is still read.
 */
class LivesTest {
  private static final long FIRST = 71;
  private static final long SECOND = 72;

  private final Lives lives = new Lives();

  @BeforeEach
  void live() {
    lives.add(FIRST, 0, 100);
    lives.add(SECOND, 150, 1000);
  }

  private static Operation at(long invokedNs, long answeredNs, Call call, Answer answer) {
    return new Operation(0, call, answer, true, invokedNs, answeredNs);
  }

  private static Operation put(long invokedNs, long answeredNs, long value, long incarnation) {
    return at(invokedNs, answeredNs, Call.put(value), new Answer(true, value, 0, incarnation));
  }

  private static Operation found(long invokedNs, long answeredNs, long value, long incarnation) {
    return at(
        invokedNs, answeredNs, Call.read(Kind.GET), new Answer(true, value, value, incarnation));
  }

  private static Operation absent(long invokedNs, long answeredNs, long incarnation) {
    return at(invokedNs, answeredNs, Call.read(Kind.GET), new Answer(false, 0, 0, incarnation));
  }

  private void assertViolation(String start, Operation... history) {
    final Optional<String> violation = lives.violation(List.of(history));
    assertTrue(violation.isPresent(), "not found");
    assertTrue(violation.get().startsWith(start), violation::get);
  }

  @Test
  void memoryOfTheDeadIsReadUntilItsSuccessorAnswers() {
    final Operation dead = found(110, 120, 1, FIRST);
    final List<Operation> history =
        List.of(put(10, 20, 1, FIRST), dead, found(160, 240, 1, FIRST), absent(170, 200, SECOND));
    assertEquals(Optional.empty(), lives.violation(history));
    assertEquals(2, lives.answersOfTheDead(history));
    assertViolation(
        "of an earlier server",
        put(10, 20, 1, FIRST),
        absent(170, 200, SECOND),
        found(201, 240, 1, FIRST));
  }

  @Test
  void aLifeBeginsEmpty() {
    assertViolation("life 1: ", put(10, 20, 1, FIRST), found(170, 200, 1, SECOND));
  }

  @Test
  void answeredWritesOutliveTheServer() {
    assertViolation("life 0: ", put(10, 20, 1, FIRST), absent(110, 120, FIRST));
  }

  @Test
  void writesWithoutAnswersAreOfAnyLifeThatTheyMet() {
    final Operation open = at(90, 160, Call.put(1), Answer.OPEN);
    assertEquals(Optional.empty(), lives.violation(List.of(open, found(110, 120, 1, FIRST))));
    assertEquals(Optional.empty(), lives.violation(List.of(open, found(170, 200, 1, SECOND))));
    assertEquals(Optional.empty(), lives.violation(List.of(open, absent(170, 200, SECOND))));
    final Operation before = at(80, 99, Call.put(1), Answer.OPEN);
    assertViolation("life 1: ", before, found(170, 200, 1, SECOND));
  }

  @Test
  void answersOfNoServerAreFound() {
    assertViolation("of no server", absent(10, 20, 73));
  }
}
