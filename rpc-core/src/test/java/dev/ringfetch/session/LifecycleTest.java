package dev.ringfetch.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Set;
import java.util.function.BinaryOperator;
import org.junit.jupiter.api.Test;

/** The lifecycles in a session take the transitions of their tables, and refuse all others. */
class LifecycleTest {
  /** Tries each pair of states. */
  private static <S extends Enum<S>> void assertLegal(
      S[] states, BinaryOperator<S> transition, String... legal) {
    final Set<String> table = Set.of(legal);
    for (final S from : states) {
      for (final S to : states) {
        if (table.contains(from + " to " + to)) {
          assertSame(to, transition.apply(from, to));
        } else {
          final Exception refused =
              assertThrows(
                  IllegalStateException.class,
                  () -> transition.apply(from, to),
                  from + " to " + to);
          assertEquals("from=" + from + ", to=" + to, refused.getMessage());
        }
      }
    }
  }

  @Test
  void sending() {
    assertLegal(
        Flow.Sending.values(),
        Flow.Sending::to,
        "WAITING to UNDER_WAY",
        "WAITING to UNSENT",
        "UNDER_WAY to SENT",
        "UNDER_WAY to CUT");
  }

  @Test
  void receiving() {
    assertLegal(
        Flow.Receiving.values(),
        Flow.Receiving::to,
        "AWAITED to BEGUN",
        "AWAITED to ENDED",
        "BEGUN to BEGUN",
        "BEGUN to ENDED");
  }

  @Test
  void ending() {
    assertLegal(
        Ending.State.values(),
        Ending.State::to,
        "OPEN to DUE",
        "DUE to DOOMED",
        "DUE to OVER",
        "DOOMED to DUE",
        "DOOMED to OVER");
  }
}
