package dev.ringfetch.frameworks.quarkus;

import dev.ringfetch.counters.Counters;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.QuarkusTestProfile;
import io.quarkus.test.junit.TestProfile;
import java.util.Map;

/** Calls of a client with rings to a server that has none. */
@QuarkusTest
@TestProfile(QuarkusServerWithoutRingsTest.Server.class)
class QuarkusServerWithoutRingsTest extends StockCalls {
  @Override
  void prepare() {
    await(
        "the reason",
        () -> {
          find();
          return Counters.ofThisProcess().stream()
              .flatMap(counters -> counters.subjects().stream())
              .anyMatch(subject -> subject.detail().contains("the server has no Ringfetch"));
        });
  }

  @Override
  int ringCalls(int calls) {
    return 0;
  }

  /** Leaves the server's bean out. */
  public static class Server implements QuarkusTestProfile {
    @Override
    public Map<String, String> getConfigOverrides() {
      return Map.of("quarkus.arc.exclude-types", ServerRings.class.getName());
    }
  }
}
