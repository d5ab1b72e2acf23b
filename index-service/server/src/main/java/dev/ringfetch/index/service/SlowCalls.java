package dev.ringfetch.index.service;

import dev.ringfetch.index.v1.SlowCall;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The slowest unary calls of the last ten minutes, at most {@value #LIMIT}. Streams last as long as
 * their clients, and do not count.
 *
 * <p>Safe for use by many threads. A call that is not among the slowest reads the clock and one
 * field.
 */
final class SlowCalls implements CallMetrics {
  /** The most calls that are kept. */
  static final int LIMIT = 20;

  /** How long a call is kept. */
  static final long KEPT_MS = TimeUnit.MINUTES.toMillis(10);

  private final LongSupplier clock; // milliseconds since 1970
  private final List<SlowCall> calls = new ArrayList<>(); // guarded by this; the slowest first
  private volatile long floorNs = -1; // what a call has to exceed; -1: there is room
  private volatile long floorEndMs; // then there is room

  SlowCalls(LongSupplier clock) {
    this.clock = clock;
  }

  @Override
  public void onEnd(MethodDescriptor<?, ?> method, Status.Code code, long durationNs) {
    if (method.getType() != MethodDescriptor.MethodType.UNARY) {
      return;
    }
    final long nowMs = clock.getAsLong();
    if (durationNs > floorNs || nowMs >= floorEndMs) {
      add(
          SlowCall.newBuilder()
              .setMethod(method.getFullMethodName())
              .setStatus(code.name())
              .setDurationNs(durationNs)
              .setEndedMs(nowMs)
              .build(),
          nowMs);
    }
  }

  private synchronized void add(SlowCall call, long nowMs) {
    forget(nowMs);
    calls.add(call);
    calls.sort(Comparator.comparingLong(SlowCall::getDurationNs).reversed());
    if (calls.size() > LIMIT) {
      calls.remove(LIMIT);
    }
    setFloor();
  }

  private void forget(long nowMs) {
    calls.removeIf(call -> nowMs - call.getEndedMs() >= KEPT_MS);
  }

  private void setFloor() {
    final boolean isFull = calls.size() == LIMIT;
    floorEndMs =
        isFull
            ? KEPT_MS + calls.stream().mapToLong(SlowCall::getEndedMs).min().orElseThrow()
            : Long.MAX_VALUE;
    floorNs = isFull ? calls.get(LIMIT - 1).getDurationNs() : -1;
  }

  /** The calls, the slowest first. */
  synchronized List<SlowCall> list() {
    forget(clock.getAsLong());
    setFloor();
    return List.copyOf(calls);
  }
}
