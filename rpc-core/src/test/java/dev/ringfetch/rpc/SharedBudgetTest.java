package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Counters;
import io.grpc.CallOptions;
import io.grpc.stub.ClientCalls;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Channels and a server that share what they have for long messages. */
final class SharedBudgetTest extends RingFixture {
  private static final int CHANNELS = 4;
  private static final int REGION = 4 << 20;

  private final BulkBudget budget = new BulkBudget(2 * REGION);

  @Test
  void sessionsShareItAndThoseWithoutGoOnInFrames() throws Exception {
    serve(Bytes.answering(request -> request), builder -> builder.bulkBudget(budget));
    final Counters counters = Counters.acquire(directory);
    try {
      final List<RingChannel> channels = new ArrayList<>();
      for (int i = 0; i < CHANNELS; i++) {
        channels.add(connect(builder().requireFabric().bulkBudget(budget)));
      }
      for (int i = 0; i < 10 * CHANNELS; i++) {
        final byte[] request = Bytes.random(i, 100_000 + i);
        assertArrayEquals(
            request,
            ClientCalls.blockingUnaryCall(
                channels.get(i % CHANNELS), Bytes.METHOD, CallOptions.DEFAULT, request));
        assertTrue(budget.reserved() <= 2 * REGION, "reserved=" + budget.reserved());
      }
      assertEquals(2 * REGION, budget.reserved());
      assertEquals(2 * REGION, counters.total(Counter.SESSION_BULK_REGISTERED));
      final long refused = counters.total(Counter.SESSION_BULK_REFUSED);
      assertTrue(refused >= 2 * CHANNELS - 2, "refused=" + refused); // the rest of both sides
      assertTrue(counters.total(Counter.SESSION_BULK_SENT) > 0, "nobody had memory");
      for (final RingChannel channel : channels) {
        channel.shutdownNow();
        assertTerminates(channel);
      }
      await("both sides have given it back", () -> budget.reserved() == 0);
    } finally {
      counters.release();
    }
  }
}
