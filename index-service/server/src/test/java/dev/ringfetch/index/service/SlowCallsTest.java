package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.SlowCall;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Which calls are kept as the slowest. */
final class SlowCallsTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 1);

  private long nowMs = 1_000_000;
  private final SlowCalls calls = new SlowCalls(() -> nowMs);

  private void end(MethodDescriptor<?, ?> method, long durationNs) {
    calls.onEnd(method, Status.Code.OK, durationNs);
  }

  private List<Long> durations() {
    return calls.list().stream().map(SlowCall::getDurationNs).toList();
  }

  @Test
  void theSlowestAreKeptFromTheSlowestOn() {
    System.out.println("ringfetch.seed=" + SEED);
    final long[] all = new Random(SEED).longs(1_000, 0, 1_000_000).toArray();
    LongStream.of(all).forEach(each -> end(IndexGrpc.getPutMethod(), each));
    assertEquals(
        LongStream.of(all)
            .boxed()
            .sorted(Comparator.reverseOrder())
            .limit(SlowCalls.LIMIT)
            .toList(),
        durations());
  }

  @Test
  void theyAreForgottenAndMakeRoomForFasterOnes() {
    for (int i = 0; i < SlowCalls.LIMIT; i++) {
      end(IndexGrpc.getPutMethod(), 1_000);
      nowMs++;
    }
    end(IndexGrpc.getGetMethod(), 5);
    assertEquals(SlowCalls.LIMIT, durations().stream().filter(each -> each == 1_000).count());
    nowMs += SlowCalls.KEPT_MS - SlowCalls.LIMIT;
    end(IndexGrpc.getGetMethod(), 5); // the first has been there for so long
    assertEquals(5, durations().get(SlowCalls.LIMIT - 1));
    nowMs += SlowCalls.KEPT_MS;
    assertEquals(List.of(), durations());
    end(IndexGrpc.getGetMethod(), 0);
    assertEquals(1, durations().size());
  }

  @Test
  void streamsDoNotCount() {
    end(IndexGrpc.getWatchMethod(), 1_000_000_000);
    assertEquals(List.of(), durations());
  }
}
