package dev.ringfetch.frameworks.quarkus;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ringfetch.counters.Counters;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.QuarkusTestProfile;
import io.quarkus.test.junit.TestProfile;
import java.util.List;
import java.util.Map;

/** The same calls without Ringfetch: what the others are compared with. */
@QuarkusTest
@TestProfile(QuarkusWithoutRingsTest.Neither.class)
class QuarkusWithoutRingsTest extends StockCalls {
  @Override
  void prepare() {
    find();
    assertEquals(
        List.of(),
        Counters.ofThisProcess().stream()
            .flatMap(counters -> counters.subjects().stream())
            .toList());
  }

  @Override
  int ringCalls(int calls) {
    return 0;
  }

  /** Has both beans attach nothing. */
  public static class Neither implements QuarkusTestProfile {
    @Override
    public Map<String, String> getConfigOverrides() {
      return Map.of("stock.rings", "false");
    }
  }
}
