package dev.ringfetch.index.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.junit.jupiter.params.provider.ValueSource;

/** Searches the model of replication, and each of its mutants. */
final class ReplicationModelTest {
  /** Scopes of some ten thousand states. */
  private static final List<String> SMALL =
      List.of(
          "size=2 epochs=3 writes=1 reads=1",
          "processes=3 size=2 epochs=3 writes=2 rpc=7 applies=1 busy=1",
          "processes=3 size=2 epochs=2 writes=2 reads=1 joins=1 applies=1",
          "processes=3 size=2 least=1 epochs=2 writes=1 reads=1 remote=1 rpc=7 joins=2 busy=1",
          "processes=3 size=2 epochs=3 writes=1 kills=1 restarts=1",
          "processes=3 size=2 epochs=2 writes=1 reads=1 kills=1 restarts=1 level=2",
          "processes=3 size=2 epochs=2 writes=1 kills=1 restarts=1 level=1 joins=3");

  private static final int LIMIT = 50_000_000;

  @Test
  void smallScopesHoldAndReachEachStep() {
    final Coverage coverage = new Coverage();
    for (final String scope : SMALL) {
      coverage.add(search(scope, Rule.NONE).coverage());
    }
    final List<String> missing = new ArrayList<>();
    for (final Step step : Step.values()) {
      for (final int epoch : step.epochs()) {
        if (coverage.count(step, epoch) == 0) {
          missing.add(step + " in epoch " + epoch);
        }
      }
    }
    assertEquals(List.of(), missing);
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "NONE")
  void brokenRuleIsFound(Rule rule) {
    final Search.Result result = run(rule.scope(), rule);
    assertNotNull(result.violation(), rule.broken());
    final List<String> trace = result.trace();
    assertTrue(trace.get(trace.size() - 1).endsWith(result.violation()), trace.toString());
  }

  @Tag("slow")
  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "NONE")
  void scopeOfBrokenRuleHoldsUnbroken(Rule rule) {
    search(rule.scope(), Rule.NONE);
  }

  /** Minutes, and up to 2 GB of heap: {@link SearchMain} runs them, too. */
  @Tag("slow")
  @EnabledIfSystemProperty(
      named = "ringfetch.model",
      matches = "large",
      disabledReason = "minutes, and 2 GB of heap: -Dringfetch.model=large")
  @ParameterizedTest
  @ValueSource(
      strings = {
        "size=3 least=1 epochs=3 writes=2 applies=1",
        "size=3 least=2 epochs=3 writes=1 reads=1",
        "size=2 epochs=3 writes=1 reads=2",
        "processes=3 size=2 least=1 epochs=3 writes=1 reads=1 joins=3 busy=1 applies=1",
        "size=3 least=1 processes=3 epochs=3 writes=2 rpc=7 busy=1 applies=1 strict=1 joins=6",
        "processes=3 size=2 epochs=3 writes=1 reads=1 kills=1 restarts=1",
        "processes=3 size=2 epochs=3 writes=1 reads=1 kills=1 restarts=1 level=1",
        "processes=3 size=2 epochs=3 writes=1 reads=1 kills=1 restarts=1 level=2",
      })
  void largeScopesHold(String scope) {
    search(scope, Rule.NONE);
  }

  private static Search.Result search(String scope, Rule rule) {
    final Search.Result result = run(scope, rule);
    assertNull(result.violation(), () -> scope + " " + result.trace());
    assertTrue(result.complete(), scope);
    System.out.println(scope + ": " + result.states() + " states\n" + result.coverage());
    return result;
  }

  private static Search.Result run(String scope, Rule rule) {
    return new Search(new ReplicationModel(Scope.of(scope), rule), LIMIT).run();
  }
}
