package dev.ringfetch.benchmarks.bulk;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.examples.load.Figures;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

final class EchoPairTest {
  /** The processes check each answer themselves, and say so by failing. */
  @Test
  void callsAreAnsweredInEachRound() throws IOException {
    try (EchoPair pair = EchoPair.start(List.of())) {
      for (int round = 0; round < 3; round++) {
        final Figures figures = pair.round(20);
        assertTrue(figures.calls() > 0, figures::toString);
      }
    }
  }
}
