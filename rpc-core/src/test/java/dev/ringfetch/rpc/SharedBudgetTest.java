package dev.ringfetch.rpc;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.ListenableFuture;
import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Counters;
import io.grpc.CallOptions;
import io.grpc.stub.ClientCalls;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Channels and a server that share the memory of long messages. */
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

  /** Handlers hold their requests until so many have come that the budget is used up. */
  @Test
  void requestsBeyondTheBudgetWait() throws Exception {
    final int length = 300_000;
    final int calls = 48;
    final MessageBudget messages = new MessageBudget(8 * length);
    final Semaphore answers = new Semaphore(0);
    final AtomicLong most = new AtomicLong();
    serve(
        Bytes.answering(
            request -> {
              most.accumulateAndGet(messages.reserved(), Math::max);
              answers.acquireUninterruptibly();
              return request;
            }),
        builder -> builder.messageBudget(messages));
    final Counters counters = Counters.acquire(directory);
    try {
      final List<ListenableFuture<byte[]>> futures = new ArrayList<>();
      for (int i = 0; i < CHANNELS; i++) {
        final RingChannel channel = connect(builder().requireFabric());
        for (int j = 0; j < calls / CHANNELS; j++) {
          futures.add(
              ClientCalls.futureUnaryCall(
                  channel.newCall(Bytes.METHOD, CallOptions.DEFAULT), Bytes.random(j, length)));
        }
      }
      await("requests wait", () -> counters.total(Counter.SESSION_BUDGET_WAITS) >= CHANNELS);
      answers.release(calls);
      for (int i = 0; i < calls; i++) {
        assertArrayEquals(
            Bytes.random(i % (calls / CHANNELS), length), futures.get(i).get(30, SECONDS));
      }
      await("all is given back", () -> messages.reserved() == 0);
      assertTrue(most.get() < 10 * length, "most=" + most);
    } finally {
      counters.release();
    }
  }
}
