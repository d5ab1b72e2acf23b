package dev.ringfetch.index.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** Searches the model of level INTERVAL, and each of its mutants. */
final class IntervalModelTest {
  private static final int LIMIT = 50_000_000;

  private static final Set<Step> STEPS =
      EnumSet.of(
          Step.WIN,
          Step.MOVE_GATE,
          Step.TELL,
          Step.JOIN,
          Step.SNAPSHOT,
          Step.ESTABLISH,
          Step.SERVE,
          Step.APPEND,
          Step.PLACE,
          Step.COMMIT,
          Step.APPLY,
          Step.JOURNAL,
          Step.KILL,
          Step.END,
          Step.RESTART);

  @Test
  void smallScopeHoldsAndReachesEachStep() {
    final Coverage coverage = hold(2, 2, 2);
    final List<Step> missing = new ArrayList<>();
    for (final Step step : STEPS) {
      if (IntStream.range(0, 4).allMatch(epoch -> coverage.count(step, epoch) == 0)) {
        missing.add(step);
      }
    }
    assertEquals(List.of(), missing);
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "NONE")
  void brokenRuleIsFound(IntervalRule rule) {
    final Search.Result result = search(2, 2, 4, rule);
    assertNotNull(result.violation());
    final List<String> trace = result.trace();
    assertTrue(trace.get(trace.size() - 1).endsWith(result.violation()), trace.toString());
    System.out.println(rule + ": " + result.states() + " states, " + trace);
  }

  @Tag("slow")
  @Test
  void largerScopesHold() {
    hold(2, 2, 4);
    hold(3, 1, 2);
  }

  private static Coverage hold(int processes, int writes, int ends) {
    final Search.Result result = search(processes, writes, ends, IntervalRule.NONE);
    assertNull(result.violation(), () -> String.valueOf(result.trace()));
    assertTrue(result.complete());
    System.out.printf(
        "processes=%d writes=%d ends=%d: %d states%n%s%n",
        processes, writes, ends, result.states(), result.coverage());
    return result.coverage();
  }

  private static Search.Result search(int processes, int writes, int ends, IntervalRule rule) {
    return new Search(new IntervalModel(processes, writes, ends, rule), LIMIT).run();
  }
}
