package dev.ringfetch.call;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The queue of one session's requests in front of the executor: at most {@link #LIMIT} of them wait
 * in the executor for a thread, the others wait here. So a client with many requests delays another
 * session's requests only a little; running calls are not limited. Thread-safe.
 */
final class RequestQueue {
  /** Enough to keep every core busy until the next request is handed over. */
  static final int LIMIT = 64;

  private final Executor executor;
  private final AtomicInteger handed = new AtomicInteger();
  private final ConcurrentLinkedQueue<ServerCallTask<?, ?>> waiting = new ConcurrentLinkedQueue<>();

  RequestQueue(Executor executor) {
    this.executor = executor;
  }

  /** Runs a call when it is its turn. Its task calls {@link #begun} first. */
  void execute(ServerCallTask<?, ?> call) {
    if (waiting.isEmpty() && take()) {
      hand(call);
    } else {
      waiting.add(call);
    }
    handMore();
  }

  /** Called when a call that was handed over has begun to run, or was rejected. */
  void begun() {
    handed.decrementAndGet(); // first: a waiting call checks the count after it has queued itself
    handMore();
  }

  private void handMore() {
    while (!waiting.isEmpty() && take()) {
      final ServerCallTask<?, ?> next = waiting.poll();
      if (next == null) {
        handed.decrementAndGet(); // and check again: a call may have come since, and found no room
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
        return false; // and each of these reports its start
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
