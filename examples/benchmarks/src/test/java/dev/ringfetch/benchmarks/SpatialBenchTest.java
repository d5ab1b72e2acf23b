package dev.ringfetch.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.benchmarks.spatial.Shape;
import dev.ringfetch.benchmarks.spatial.SpatialSide;
import dev.ringfetch.benchmarks.stores.NativeServer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

final class SpatialBenchTest {
  /** Rivals have processes of their own, each of which takes a second to start. */
  @Tag("slow")
  @Test
  @ResourceLock(Resources.SYSTEM_OUT)
  void eachRowOfEachSideIsPrintedForScripts() {
    final String printed =
        PrintedBench.run(
            "spatial", "--rounds=1", "--millis=20", "--warm-up=20", "--entries=3000", "--checks=5");
    final boolean hasRedis = NativeServer.find("redis-server").isPresent();
    assertEquals(!hasRedis, printed.contains("left out: redis-server is not installed"));
    for (final Shape shape : Shape.values()) {
      for (final SpatialSide side : SpatialSide.values()) {
        if (side.has(shape) && (side != SpatialSide.redis || hasRedis)) {
          for (final String row : rows(side)) {
            final String line = "RESULT shape=" + shape + " row=" + row + " side=" + side.text();
            assertTrue(printed.contains(line + " "), line + "\n" + printed);
          }
        }
      }
    }
    assertTrue(printed.contains("wrong answers: 0"), printed);
  }

  private static List<String> rows(SpatialSide side) {
    final List<String> rows = new ArrayList<>(List.of("search-10", "search-100", "search-1000"));
    if (side.isLoaded()) {
      rows.add("load");
    }
    if (side.hasNearest()) {
      rows.add("nearest-10");
    }
    if (side.hasMoves()) {
      rows.add("search-100-moves");
    }
    return rows;
  }
}
