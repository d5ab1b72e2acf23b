package dev.ringfetch.frameworks.quarkus;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Counters;
import io.quarkus.test.junit.QuarkusTest;

/** Calls between a client and a server with rings. */
@QuarkusTest
class QuarkusRingsTest extends StockCalls {
  @Override
  void prepare() {
    final long before = Counters.processTotal(Counter.SERVER_CALLS_RING);
    await(
        "a call on a ring",
        () -> {
          find();
          return Counters.processTotal(Counter.SERVER_CALLS_RING) > before;
        });
  }

  @Override
  int ringCalls(int calls) {
    return calls;
  }
}
