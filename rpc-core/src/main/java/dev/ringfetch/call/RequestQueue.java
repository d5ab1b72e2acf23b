package dev.ringfetch.call;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The way of one session's requests to the executor: at most {@link #LIMIT} of them wait there for
 * a thread, the others wait here. However many a client sends, those of another session come next
 * after a few of them; calls that run are not limited. Thread-safe.
 */
final class RequestQueue {
  /** Enough to keep every core busy until the next one is handed over. */
  static final int LIMIT = 64;

  private final Executor executor;
  private final AtomicInteger handed = new AtomicInteger();
  private final ConcurrentLinkedQueue<ServerCallTask<?, ?>> waiting = new ConcurrentLinkedQueue<>();

  RequestQueue(Executor executor) {
    this.executor = executor;
  }

  /** Runs a call when it is its turn. Its task says {@link #begun} first. */
  void execute(ServerCallTask<?, ?> call) {
    if (waiting.isEmpty() && take()) {
      hand(call);
    } else {
      waiting.add(call);
    }
    handMore();
  }

  /** A call that was handed over has begun to run, or was rejected. */
  void begun() {
    handed.decrementAndGet(); // first: who waits looks for a turn second
    handMore();
  }

  private void handMore() {
    while (!waiting.isEmpty() && take()) {
      final ServerCallTask<?, ?> next = waiting.poll();
      if (next == null) {
        handed.decrementAndGet(); // and looks again: one may have come since, and found none
      } else {
        hand(next);
      }
    }
  }

  private boolean take() {
    int before;
    do {
      before = handed.get();
      if (before == LIMIT) {
        return false; // and each of these says when it begins
      }
    } while (!handed.compareAndSet(before, before + 1));
    return true;
  }

  private void hand(ServerCallTask<?, ?> call) {
    try {
      executor.execute(call);
    } catch (RuntimeException | Error e) { // rejected, or there is no thread to be had
      handed.decrementAndGet();
      call.rejected(e);
    }
  }
}
