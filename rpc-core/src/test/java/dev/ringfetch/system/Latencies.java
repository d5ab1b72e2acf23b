package dev.ringfetch.system;

import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.rpc.RingChannel;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * How a well-behaved client fares for a while: one call after the other, every answer checked.
 *
 * @param perSecond calls.
 * @param p50Ns median time of a call.
 * @param p99Ns what one call in a hundred takes longer than.
 */
record Latencies(long perSecond, long p50Ns, long p99Ns) {
  private static final int MAX_CALLS = 4_000_000;

  /** Calls for so many milliseconds; fails on an answer that is not right, and without a ring. */
  static Latencies measure(RingChannel channel, long millis) {
    final IndexGrpc.IndexBlockingStub stub =
        IndexGrpc.newBlockingStub(channel)
            .withDeadlineAfter(5 * millis + 20_000, TimeUnit.MILLISECONDS);
    final long onGrpc = channel.grpcCalls();
    final long startNs = System.nanoTime();
    long[] latencies = new long[1 << 16];
    int calls = 0;
    long nowNs = startNs;
    while (nowNs - startNs < TimeUnit.MILLISECONDS.toNanos(millis) && calls < MAX_CALLS) {
      final GetRequest request = HashIndex.request(calls);
      if (!HashIndex.isAnswer(request, stub.get(request))) {
        throw new IllegalStateException("another's answer");
      }
      final long endNs = System.nanoTime();
      if (calls == latencies.length) {
        latencies = Arrays.copyOf(latencies, 2 * calls);
      }
      latencies[calls++] = endNs - nowNs;
      nowNs = endNs;
    }
    if (channel.grpcCalls() != onGrpc) {
      throw new IllegalStateException("calls went over gRPC");
    }
    Arrays.sort(latencies, 0, calls);
    return new Latencies(
        calls * 1_000_000_000L / (nowNs - startNs),
        latencies[calls / 2],
        latencies[calls * 99 / 100]);
  }

  /** Reads what {@link #toString} has written. */
  static Latencies parse(String line) {
    final String[] words = line.split(" ", -1);
    return new Latencies(
        Long.parseLong(words[0]), Long.parseLong(words[1]), Long.parseLong(words[2]));
  }

  @Override
  public String toString() {
    return perSecond + " " + p50Ns + " " + p99Ns;
  }
}
