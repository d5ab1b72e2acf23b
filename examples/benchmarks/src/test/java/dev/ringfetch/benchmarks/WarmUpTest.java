package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.Test;

final class WarmUpTest {
  private final List<Integer> rounds = new ArrayList<>();

  @Test
  void takesWhatWasAskedForIfCompilersRest() throws IOException {
    assertEquals(0.04, warmUp(900, 0.9, 0.04));
    assertEquals(List.of(800, 100), rounds);
  }

  @Test
  void goesOnUntilCompilersRest() throws IOException {
    assertEquals(0.01, warmUp(900, 0.9, 0.8, 0.05, 0.01));
    assertEquals(List.of(800, 100, 100, 100), rounds);
  }

  @Test
  void takesFourTimesAsLongAtTheMost() throws IOException {
    assertEquals(0.7, warmUp(900, Collections.nCopies(100, 0.7).toArray(new Double[0])));
    assertEquals(4 * 900, rounds.stream().mapToInt(Integer::intValue).sum());
  }

  @Test
  void aWarmUpOfMillisecondsEnds() throws IOException {
    assertEquals(0.7, warmUp(1, 0.7, 0.7, 0.7, 0.7, 0.7));
    assertEquals(List.of(1, 1, 1, 1), rounds);
  }

  private double warmUp(int millis, Double... shares) throws IOException {
    final Iterator<Double> share = List.of(shares).iterator();
    return WarmUp.run(millis, rounds::add, share::next);
  }
}
