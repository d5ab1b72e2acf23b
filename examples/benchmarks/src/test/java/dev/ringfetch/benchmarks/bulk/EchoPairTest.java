package dev.ringfetch.benchmarks.bulk;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.examples.load.Figures;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class EchoPairTest {
  /** The processes check each answer themselves, and say so by failing. */
  @ParameterizedTest
  @EnumSource
  void callsAreAnsweredInEachRound(LaneKind kind) throws IOException {
    try (EchoPair pair = EchoPair.start(kind, List.of())) {
      for (final int payload : new int[] {32, 65536, 1048576, 32}) {
        final Figures figures = pair.round(payload, 20);
        assertTrue(figures.calls() > 0, figures::toString);
      }
    }
  }

  @Test
  void severalCallsAreOnTheirWay() throws IOException {
    try (EchoPair pair = EchoPair.start(LaneKind.agrona, List.of())) {
      for (final int inFlight : new int[] {16, 256, 1, 256}) {
        final Figures figures = pair.round(32, inFlight, 20);
        assertTrue(figures.calls() >= inFlight, figures::toString);
      }
      final Figures figures = pair.round(65536, 16, 20);
      assertTrue(figures.calls() >= 16, figures::toString);
    }
  }
}
