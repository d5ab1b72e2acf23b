package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.WatchRequest;
import dev.ringfetch.index.v1.WatchResponse;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * The calls of one watch, one after another: when the server or the connection to it is gone, the
 * next call goes on from the last token, after a pause that doubles from attempt to attempt.
 *
 * <p>The server sends something each second. Where nothing comes for {@value #SILENCE_SECONDS}
 * seconds although more was asked for, the call is given up for lost.
 *
 * <p>Safe for use by many threads; has none of its own.
 */
final class WatchConnection {
  /** How long the server may be silent. */
  static final int SILENCE_SECONDS = 5;

  static final long PAUSE_MIN_NS = TimeUnit.MILLISECONDS.toNanos(50);
  static final long PAUSE_MAX_NS = TimeUnit.SECONDS.toNanos(5);

  private static final Metadata.Key<byte[]> OLDEST_TOKEN =
      Metadata.Key.of("ringfetch-oldest-token-bin", Metadata.BINARY_BYTE_MARSHALLER);

  /** Responses with changes that are asked for ahead. */
  private static final int WINDOW = 2;

  private static final long CHECK_NS = TimeUnit.SECONDS.toNanos(1);

  private enum State {
    NEW,
    /** A call is under way. */
    CALLING,
    /** A pause before the next call. */
    PAUSING,
    ENDED
  }

  /** Gets what the watch brings, one call at a time. */
  interface Receiver {
    /** Called with each response; for one with changes, {@link #taken} follows. */
    void onResponse(WatchResponse response);

    /** Called at the end, unless {@link #close} was called. */
    void onEnd(IndexException failure);
  }

  private final IndexCalls calls;
  private final Subject subject;
  private final WatchOptions options;
  private final Receiver receiver;

  // Guarded by this.
  private State state = State.NEW;
  private WatchRequest request;
  private Attempt attempt;
  private RuntimeException refusal; // why there is no attempt
  private int untaken; // responses with changes
  private long pauseNs = PAUSE_MIN_NS;
  private long heardNs;
  private boolean away;
  private long awaySinceNs;

  WatchConnection(
      IndexCalls calls,
      Subject subject,
      WatchRequest request,
      WatchOptions options,
      Receiver receiver) {
    this.calls = calls;
    this.subject = subject;
    this.request = request;
    this.options = options;
    this.receiver = receiver;
  }

  /** One call. */
  private final class Attempt extends ClientCall.Listener<WatchResponse> {
    final ClientCall<WatchRequest, WatchResponse> call;
    final long beginNs = System.nanoTime();
    long asked;

    Attempt() {
      call =
          calls.newStream(Call.reading(IndexGrpc.getWatchMethod(), request), CallOptions.DEFAULT);
    }

    @Override
    public void onMessage(WatchResponse response) {
      received(this, response);
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      calls.leave(call);
      ended(this, status, trailers);
    }
  }

  /** A new call; null if an interceptor has thrown. */
  private Attempt attempt() {
    try {
      return new Attempt();
    } catch (RuntimeException e) {
      refusal = e;
      return null;
    }
  }

  /** Begins. */
  void start() {
    call();
  }

  private void call() {
    final Attempt next;
    final WatchRequest sent;
    final int asked;
    synchronized (this) {
      if (state == State.ENDED) {
        return;
      }
      state = State.CALLING;
      next = attempt();
      if (next != null) {
        attempt = next;
      }
      sent = request;
      asked = WINDOW - untaken;
      heardNs = System.nanoTime();
    }
    if (next == null) {
      ended(attempt, Status.INTERNAL.withDescription("no call was made").withCause(refusal), null);
      return;
    }
    next.asked = asked;
    try {
      next.call.start(next, new Metadata());
      if (calls.isClosed()) { // perhaps before the call was one of those to cancel
        next.call.cancel("the client was closed", null);
        return;
      }
      if (asked > 0) {
        next.call.request(asked);
      }
      next.call.sendMessage(sent);
      next.call.halfClose();
    } catch (RuntimeException e) { // of an interceptor, on a thread that nobody looks at
      calls.leave(next.call);
      ended(next, Status.INTERNAL.withDescription("no call was made").withCause(e), null);
      next.call.cancel("no call was made", e);
    }
    checkLater(next);
  }

  private void received(Attempt from, WatchResponse response) {
    final boolean changes = response.getEventsCount() > 0;
    synchronized (this) {
      if (from != attempt || state != State.CALLING) {
        return; // given up
      }
      request = request.toBuilder().setToken(response.getToken()).build();
      heardNs = System.nanoTime();
      away = false;
      if (changes) {
        pauseNs = PAUSE_MIN_NS;
        untaken++;
        from.asked--;
      }
    }
    if (!changes) {
      from.call.request(1);
    }
    receiver.onResponse(response);
  }

  /** The changes of a response were taken: another one may come. */
  void taken() {
    final Attempt present;
    synchronized (this) {
      untaken--;
      if (state != State.CALLING) {
        return;
      }
      present = attempt;
      if (present.asked++ == 0) {
        heardNs = System.nanoTime(); // it was not the server that was silent
      }
    }
    present.call.request(1);
  }

  private void checkLater(Attempt checked) {
    CompletableFuture.delayedExecutor(CHECK_NS, TimeUnit.NANOSECONDS, Runnable::run)
        .execute(() -> check(checked));
  }

  private void check(Attempt checked) {
    synchronized (this) {
      if (checked != attempt || state != State.CALLING) {
        return;
      }
      if (checked.asked == 0
          || System.nanoTime() - heardNs < TimeUnit.SECONDS.toNanos(SILENCE_SECONDS)) {
        checkLater(checked);
        return;
      }
    }
    calls.leave(checked.call);
    ended(
        checked,
        Status.UNAVAILABLE.withDescription(
            "the server was silent: limit=" + SILENCE_SECONDS + " s"),
        new Metadata());
    checked.call.cancel("the server was silent", null);
  }

  private void ended(Attempt from, Status status, Metadata trailers) {
    final long delayNs;
    synchronized (this) {
      if (from != attempt || state != State.CALLING) {
        return;
      }
      final long nowNs = System.nanoTime();
      if (!away) {
        away = true;
        awaySinceNs = nowNs;
      }
      if (isResumed(status) && nowNs - awaySinceNs < options.outageLimitNs()) {
        state = State.PAUSING;
        if (nowNs - from.beginNs > PAUSE_MAX_NS) {
          pauseNs = PAUSE_MIN_NS; // it went well for long
        }
        // Not all clients of a server that comes back at the same time.
        delayNs = pauseNs / 2 + ThreadLocalRandom.current().nextLong(pauseNs / 2 + 1);
        pauseNs = Math.min(2 * pauseNs, PAUSE_MAX_NS);
      } else {
        state = State.ENDED;
        delayNs = -1;
      }
    }
    if (delayNs >= 0) {
      CompletableFuture.delayedExecutor(delayNs, TimeUnit.NANOSECONDS, Runnable::run)
          .execute(this::call);
    } else {
      receiver.onEnd(failure(status, trailers));
    }
  }

  /**
   * Whether another call may go on. The server ends no watch in order; a server that ends at once
   * cancels its streams, and so does this, but then nobody asks.
   */
  private boolean isResumed(Status status) {
    return !calls.isClosed()
        && (Failures.isLost(status) || status.isOk() || status.getCode() == Status.Code.CANCELLED);
  }

  private IndexException failure(Status status, Metadata trailers) {
    if (status.getCode() == Status.Code.OUT_OF_RANGE) {
      final byte[] oldest = trailers == null ? null : trailers.get(OLDEST_TOKEN);
      return new HistoryGoneException(
          subject, status, oldest == null ? ByteString.EMPTY : ByteString.copyFrom(oldest));
    }
    return Failures.of(
        subject,
        status.isOk()
            ? Status.UNAVAILABLE.withDescription("the server has ended the watch")
            : status,
        false);
  }

  /** Ends the watch. Idempotent. */
  void close() {
    final Attempt last;
    synchronized (this) {
      state = State.ENDED;
      last = attempt;
    }
    if (last != null) {
      calls.leave(last.call);
      last.call.cancel("the watch was closed", null);
    }
  }
}
