package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.examples.load.Figures;
import java.util.List;
import org.junit.jupiter.api.Test;

final class BusyCellTest {
  private static final List<Figures> GRPC = List.of(round(100, 1_000, 500), round(10, 100, 5_000));

  private static Figures round(double p50, double p99, double perSecond) {
    return new Figures(1, p50, p99, p99, perSecond);
  }

  /** The ring's two rounds, as parts of those of gRPC. */
  private static BusyCell cell(double p50, double p99, double rate, double share) {
    return new BusyCell(
        Place.oneLoop,
        new Load(Mode.standard, 32, 1),
        GRPC.stream()
            .map(of -> round(p50 * of.p50Us(), p99 * of.p99Us(), rate * of.perSecond()))
            .toList(),
        GRPC,
        share,
        0.5);
  }

  @Test
  void eachBarIsReachedByItsEdge() {
    assertTrue(cell(0.7, 1.1, 1, 0.9).isReached());
    assertFalse(cell(0.71, 1.1, 1, 0.9).isReached(), "p50");
    assertFalse(cell(0.7, 1.11, 1, 0.9).isReached(), "p99");
    assertFalse(cell(0.7, 1.1, 0.99, 0.9).isReached(), "rate");
    assertFalse(cell(0.7, 1.1, 1, 0.89).isReached(), "calls on rings");
  }

  @Test
  void ratiosAreOfTheSameRound() {
    final String result = cell(0.5, 1, 2, 1).result();
    assertTrue(
        result.startsWith(
            "RESULT place=oneLoop neighbours=1 mode=blocking payload=32 inflight=1 p50_ratio=0.500"
                + " p99_ratio=1.000 rate_ratio=2.000 ring_share=1.000 "),
        result);
    assertTrue(result.endsWith(" reached=true"), result);
  }

  @Test
  void jvmWithinALimitSeesOneProcessor() {
    assertEquals(List.of(), Place.Limit.none.flags());
    assertEquals(Place.Limit.quota.flags(), Place.Limit.processor.flags());
  }
}
