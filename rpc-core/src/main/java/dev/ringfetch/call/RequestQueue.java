package dev.ringfetch.call;

import dev.ringfetch.timer.Retry;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The queue of one session's requests in front of the executor: at most {@link #LIMIT} of them wait
 * in the executor for a thread, the others wait here. So a client with many requests delays another
 * session's requests only a little; running calls are not limited. Thread-safe.
 *
 * <p>An executor may drop a task without a word. If it has begun none of the calls for {@link
 * #STALL_NS} while others wait, their places count as lost, and go to those that wait. A call that
 * begins later gives a place back that was lost.
 */
final class RequestQueue {
  /** Enough to keep every core busy until the next request is handed over. */
  static final int LIMIT = 64;

  /** Longer than an executor that works keeps a whole session waiting. */
  static final long STALL_NS = TimeUnit.SECONDS.toNanos(1);

  private final Executor executor;
  private final Retry look = new Retry(this::onStallTime, STALL_NS);
  private final AtomicInteger handed = new AtomicInteger();
  private volatile int lost; // of those handed over
  private volatile ServerCallTask<?, ?> first; // of the waiting ones when the look was scheduled
  private final ConcurrentLinkedQueue<ServerCallTask<?, ?>> waiting = new ConcurrentLinkedQueue<>();

  RequestQueue(Executor executor) {
    this.executor = executor;
  }

  /** Runs a call when it is its turn. Its task calls {@link #begun} first. */
  void execute(ServerCallTask<?, ?> call) {
    final boolean waits = !waiting.isEmpty() || !take();
    if (waits) {
      waiting.add(call);
    } else {
      hand(call);
    }
    handMore();
    if (waits) {
      watch();
    }
  }

  /** Looks a while later whether the executor has begun a call, if there are some that wait. */
  private void watch() {
    final ServerCallTask<?, ?> head = first == null ? waiting.peek() : null;
    if (head != null) {
      first = head;
      try {
        look.schedule();
      } catch (OutOfMemoryError e) { // the next call that waits tries again
        first = null;
      }
    }
  }

  /** On the poller's thread, because an executor may run a task at once. */
  private void onStallTime() {
    try {
      first.session.poller().execute(this::endStall);
    } catch (OutOfMemoryError e) { // as above
      first = null;
    }
  }

  private void endStall() {
    final ServerCallTask<?, ?> head = waiting.peek();
    if (head != null && head == first) { // none has begun: it would have handed over this one
      lost = handed.get();
      handMore();
    }
    first = null;
    watch();
  }

  /** Called when a call that was handed over has begun to run, or was rejected. */
  void begun() {
    // First: a waiting call checks the count after it has queued itself.
    final int left = handed.decrementAndGet();
    if (left < lost) {
      lost = left;
    }
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
      if (before >= LIMIT + lost) {
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
