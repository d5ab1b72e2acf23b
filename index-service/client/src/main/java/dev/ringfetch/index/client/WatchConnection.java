package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.WatchRequest;
import dev.ringfetch.index.v1.WatchResponse;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;

/**
 * The calls of one watch, one after another, and their queued responses. After the loss of the
 * server or the connection, the next call resumes at the last token, after a pause that doubles
 * from attempt to attempt.
 *
 * <p>The watch takes responses from a queue at its own pace; no thread of the channel waits for it.
 * At most {@value #WINDOW} responses with changes are requested or unprocessed at any time.
 *
 * <p>The server sends something each second. The call is given up for lost if the client has asked
 * for more, and nothing has come at more than {@value #SILENCE_CHECKS} checks in a row, one a
 * second. A check that comes late, as this process stood still, counts once: what the server has
 * sent meanwhile is taken before the next one. No check counts while the watch hears of a response.
 *
 * <p>Safe for use by many threads; has no thread of its own.
 */
final class WatchConnection {
  /** Checks in a row that may find the server silent; at the next one the call is given up. */
  static final int SILENCE_CHECKS = 5;

  static final long CHECK_NS = TimeUnit.SECONDS.toNanos(1);
  static final long PAUSE_MIN_NS = TimeUnit.MILLISECONDS.toNanos(50);
  static final long PAUSE_MAX_NS = TimeUnit.SECONDS.toNanos(5);

  /** Limit of the time that one step adds to an outage: longer steps are pauses of this process. */
  private static final long STEP_MAX_NS = PAUSE_MAX_NS + CHECK_NS;

  private static final Metadata.Key<byte[]> OLDEST_TOKEN =
      Metadata.Key.of("ringfetch-oldest-token-bin", Metadata.BINARY_BYTE_MARSHALLER);

  /** Responses with changes that are requested ahead. */
  static final int WINDOW = 2;

  private enum State {
    NEW,
    /** A call is under way. */
    CALLING,
    /** A pause before the next call. */
    PAUSING,
    ENDED
  }

  private final IndexCalls calls;
  private final ClientThreads threads;
  private final Subject subject;
  private final WatchOptions options;
  private final Runnable onEvent;

  // Guarded by this.
  private State state = State.NEW;
  private WatchRequest request;
  private Attempt attempt;
  private RuntimeException refusal; // why there is no attempt
  private final Backoff backoff = new Backoff(PAUSE_MIN_NS, PAUSE_MAX_NS);

  /** Queued responses; of consecutive ones without changes, only the last one. */
  private final ArrayDeque<WatchResponse> responses = new ArrayDeque<>();

  private int untaken; // responses with changes: they wait, or the watch uses them
  private IndexException end; // null: it has not ended, or was closed
  private int silentChecks; // in a row
  private boolean away;
  private long awayNs; // for how long, without pauses of this process
  private long steppedNs;

  /**
   * Creates it; makes no call yet.
   *
   * @param onEvent is called after each response, and at the end, unless {@link #close} was called.
   *     It must not wait.
   */
  WatchConnection(
      IndexCalls calls,
      Subject subject,
      WatchRequest request,
      WatchOptions options,
      Runnable onEvent) {
    this.calls = calls;
    this.threads = calls.threads();
    this.subject = subject;
    this.request = request;
    this.options = options;
    this.onEvent = onEvent;
  }

  /** One call. */
  private final class Attempt extends ClientCall.Listener<WatchResponse> {
    final ClientCall<WatchRequest, WatchResponse> call;
    final long beginNs = threads.nowNs();
    boolean isStarted;
    int asked;
    boolean hasReceived;
    boolean notifies; // the watch hears of a response on the thread that has brought it

    Attempt() {
      // On the pool: what comes is heard also while all threads of the application are busy.
      final CallOptions callOptions = CallOptions.DEFAULT.withExecutor(threads.pool());
      call = calls.newStream(Call.reading(IndexGrpc.getWatchMethod(), request), callOptions);
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
      silentChecks = 0;
    }
    if (next == null) {
      ended(attempt, Status.INTERNAL.withDescription("no call was made").withCause(refusal), null);
      return;
    }
    try {
      next.call.start(next, new Metadata());
      if (calls.isClosed()) { // perhaps before the call was one of those to cancel
        next.call.cancel("the client was closed", null);
        return;
      }
      ask(next);
      next.call.sendMessage(sent);
      next.call.halfClose();
    } catch (RuntimeException e) { // of an interceptor, on a thread that nobody looks at
      calls.leave(next.call);
      ended(next, Status.INTERNAL.withDescription("no call was made").withCause(e), null);
      next.call.cancel("no call was made", e);
    }
    threads.after(CHECK_NS, () -> check(next));
  }

  /** Asks for the first responses of a call, which has started. */
  private void ask(Attempt started) {
    final int asked;
    synchronized (this) {
      started.isStarted = true;
      started.asked = WINDOW - untaken;
      asked = started.asked;
    }
    if (asked > 0) {
      started.call.request(asked);
    }
  }

  private void received(Attempt from, WatchResponse response) {
    final boolean changes = response.getEventsCount() > 0;
    synchronized (this) {
      if (from != attempt || state != State.CALLING) {
        return; // given up
      }
      request = request.toBuilder().setToken(response.getToken()).build();
      from.hasReceived = true;
      from.notifies = true;
      silentChecks = 0;
      away = false;
      if (changes) {
        backoff.reset();
        untaken++;
        from.asked--;
      }
      if (!changes && !responses.isEmpty() && responses.getLast().getEventsCount() == 0) {
        responses.removeLast();
      }
      responses.add(response);
    }
    if (!changes) {
      from.call.request(1);
    }
    onEvent.run(); // may take long, if the executor of the application runs tasks inline
    synchronized (this) {
      from.notifies = false;
    }
  }

  /** Takes the next response; null if none waits. After one with changes, {@link #done} follows. */
  synchronized WatchResponse poll() {
    return responses.poll();
  }

  /** Why the watch has ended, once its responses are taken; null if it has not, or was closed. */
  synchronized IndexException end() {
    return responses.isEmpty() ? end : null;
  }

  /** Notes that the watch has processed a response with changes, and requests another one. */
  void done() {
    final Attempt present;
    synchronized (this) {
      untaken--;
      if (state != State.CALLING || !attempt.isStarted) {
        return; // the next call asks for it
      }
      present = attempt;
      if (present.asked++ == 0) {
        silentChecks = 0; // it was not the server that was silent
      }
    }
    present.call.request(1);
  }

  private void check(Attempt checked) {
    synchronized (this) {
      if (checked != attempt || state != State.CALLING) {
        return;
      }
      step();
      silentChecks = checked.asked == 0 || checked.notifies ? 0 : silentChecks + 1;
      if (silentChecks <= SILENCE_CHECKS) {
        threads.after(CHECK_NS, () -> check(checked));
        return;
      }
    }
    calls.leave(checked.call);
    ended(
        checked,
        Status.UNAVAILABLE.withDescription("the server was silent: limit=" + SILENCE_CHECKS + " s"),
        new Metadata());
    checked.call.cancel("the server was silent", null);
  }

  /** Adds the time since the last step to the outage, while the server is away. */
  private void step() {
    final long nowNs = threads.nowNs();
    awayNs = away ? awayNs + Math.min(nowNs - steppedNs, STEP_MAX_NS) : 0;
    steppedNs = nowNs;
  }

  private void ended(Attempt from, Status status, Metadata trailers) {
    synchronized (this) {
      if (from != attempt || state != State.CALLING) {
        return;
      }
      step();
      away = true;
      if (isResumed(status) && awayNs < options.outageLimitNs()) {
        state = State.PAUSING;
        if (from != null && from.hasReceived && steppedNs - from.beginNs > PAUSE_MAX_NS) {
          backoff.reset(); // it went well for long
        }
        threads.after(backoff.nextNs(), this::call);
        return;
      }
      state = State.ENDED;
      end = failure(status, trailers);
    }
    onEvent.run();
  }

  /**
   * Whether another call may resume the watch after this status. A server never ends a watch with
   * OK; one that stops at once cancels its streams.
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

  /** Ends the watch: no more responses come. Does not wait. Idempotent. */
  void close() {
    final Attempt last;
    synchronized (this) {
      state = State.ENDED;
      end = null;
      responses.clear();
      last = attempt;
    }
    if (last != null) {
      calls.leave(last.call);
      last.call.cancel("the watch was closed", null);
    }
  }
}
