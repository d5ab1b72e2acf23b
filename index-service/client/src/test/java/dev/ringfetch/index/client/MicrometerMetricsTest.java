package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class MicrometerMetricsTest {
  @TempDir Path directory;

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

  private long timed(String operation, String outcome) {
    return registry
        .get(MicrometerMetrics.OPERATIONS)
        .tags("index", "seen", "operation", operation, "outcome", outcome)
        .timer()
        .count();
  }

  @Test
  void operationsAreTimedByOutcome() throws IOException {
    try (TestServer server = TestServer.start(directory);
        IndexClient client = server.builder().metrics(new MicrometerMetrics(registry)).build()) {
      final HashIndex<String, Long> seen = client.hash("seen", Codec.string(), Codec.int64());
      seen.put("a", 1L);
      seen.get("a");
      seen.async().get("b").join();
      assertThrows(IndexException.class, () -> seen.put("", 1L));
      seen.access(Access.DIRECT).get("a");
    }
    assertEquals(1, timed("put", "OK"));
    assertEquals(1, timed("put", "INVALID_ARGUMENT"));
    assertEquals(3, timed("get", "OK"));
    assertEquals(4, routed("rpc"));
    assertEquals(1, routed("direct"));
  }

  private double routed(String route) {
    return registry
        .get(MicrometerMetrics.ROUTES)
        .tags("index", "seen", "route", route)
        .counter()
        .count();
  }
}
