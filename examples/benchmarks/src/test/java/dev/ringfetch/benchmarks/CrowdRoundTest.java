package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ringfetch.examples.load.Figures;
import java.util.List;
import org.junit.jupiter.api.Test;

final class CrowdRoundTest {
  private static Figures client(double p50Us, double p99Us, double perSecond) {
    return new Figures(100, p50Us, p99Us, 2 * p99Us, perSecond);
  }

  @Test
  void callsAreAddedUpAndTheSlowestClientIsNamed() {
    final CrowdRound round =
        CrowdRound.of(List.of(client(3, 30, 1_000), client(1, 50, 2_000), client(2, 40, 3_000)));
    assertEquals(6_000, round.perSecond());
    assertEquals(0.5, round.slowest());
    assertEquals(2, round.p50Us());
    assertEquals(50, round.p99Us());
  }

  @Test
  void oneClientHasTheMean() {
    assertEquals(new CrowdRound(1_000, 1, 3, 30), CrowdRound.of(List.of(client(3, 30, 1_000))));
  }
}
