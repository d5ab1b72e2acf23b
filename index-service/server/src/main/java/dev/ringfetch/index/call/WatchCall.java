package dev.ringfetch.index.call;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.partition.OwnerTask;
import dev.ringfetch.index.v1.WatchResponse;
import dev.ringfetch.index.watch.EventBatch;
import dev.ringfetch.index.watch.WatchCursor;
import dev.ringfetch.index.watch.WatchToken;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import java.io.IOException;
import java.util.Base64;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * One call that watches an index: sends changes as fast as the client takes them, and its token at
 * least once in an interval.
 *
 * <p>After it was opened, everything happens in bounded steps on the thread of watches; while the
 * call reads the journal, on the one for that, so that watches wait for no disk that need none.
 */
public final class WatchCall {
  /** The trailer with the oldest token, of a watch whose changes are gone. */
  public static final Metadata.Key<byte[]> OLDEST_TOKEN =
      Metadata.Key.of("ringfetch-oldest-token-bin", Metadata.BINARY_BYTE_MARSHALLER);

  /** The most responses that one turn sends. */
  private static final int TURN = 4;

  private static final System.Logger LOGGER = System.getLogger(WatchCall.class.getName());

  /** The owner of the call: only that thread changes the state. */
  private enum State {
    /** The thread of watches, until the owners of partitions have answered. */
    OPENING,
    /** The thread of watches. */
    OPEN,
    /** The thread that reads the journal, until its turn ends. */
    READING,
    /** No owner: the call was answered, or cancelled. */
    ENDED
  }

  /**
   * The parameters of a request.
   *
   * @param partition the only one with keys of the range; -1: all may have some
   * @param token where to begin; null: now
   * @param progressNs how long nothing may be sent
   */
  record Subject(EventBatch batch, int partition, WatchToken token, long progressNs) {
    boolean includes(int number) {
      return partition < 0 || partition == number;
    }
  }

  private final WatchCalls calls;
  private final IndexFeeds feeds;
  private final Subject subject;
  private final CallSignals<WatchResponse> signals;
  private final ServerCallStreamObserver<WatchResponse> responses;

  /** Partitions whose owner has not answered, and one for the thread that opens. */
  private final AtomicInteger opening = new AtomicInteger(1);

  private final AtomicReference<Status> failure = new AtomicReference<>();

  private volatile State state = State.OPENING;

  /** Whether something has come, perhaps during a turn of reading. */
  private volatile boolean isDue;

  /** Of the thread of watches: how the call has to end once its turn of reading has ended. */
  private Status ending;

  // Of the thread that has the call.
  private WatchCursor cursor;
  private long sentNs;

  WatchCall(
      WatchCalls calls, IndexFeeds feeds, Subject subject, CallSignals<WatchResponse> signals) {
    this.calls = calls;
    this.feeds = feeds;
    this.subject = subject;
    this.signals = signals;
    this.responses = signals.responses();
  }

  /** Begins. */
  void open() {
    signals.handler(feeds::wake);
    for (int i = 0; i < feeds.index().partitions(); i++) {
      if (subject.includes(i)) {
        opening.incrementAndGet();
        final int refused = feeds.begin(i, this::answered);
        if (refused != 0) {
          failure.compareAndSet(null, calls.outcomes().status(feeds.index(), refused));
          opening.decrementAndGet(); // not to 0: this thread is counted
        }
      }
    }
    opened();
  }

  private void answered(OwnerTask task) {
    if (task.outcome() != OwnerTask.DONE) {
      failure.compareAndSet(null, calls.outcomes().status(feeds.index(), task.outcome()));
    }
    opened();
  }

  private void opened() {
    if (opening.decrementAndGet() == 0) {
      feeds.wake();
    }
  }

  /** Does what is due, up to a bound. On the thread of watches. */
  void drive() {
    isDue = true; // first: the thread that reads looks when its turn has ended
    if (state == State.READING) {
      return;
    }
    isDue = false;
    if (state == State.OPENING && opening.get() == 0) {
      begin();
    }
    if (state == State.OPEN) {
      if (ending != null) {
        end(ending);
      } else if (!signals.isCancelled() && responses.isReady() && cursor.isBehind()) {
        readLater();
      } else {
        turn();
      }
    }
    if (signals.isCancelled() && (state == State.OPENING || state == State.OPEN)) {
      ended();
    }
  }

  private void readLater() {
    state = State.READING;
    try {
      calls.historian().execute(this::read);
    } catch (RejectedExecutionException | OutOfMemoryError e) { // it ends, or has no thread
      state = State.OPEN; // a tick tries again
    }
  }

  private void read() {
    try {
      turn();
    } finally {
      if (state == State.READING) {
        state = State.OPEN;
      }
      if (isDue) {
        feeds.wake();
      }
    }
  }

  private void turn() {
    try {
      advance();
    } catch (IOException e) {
      LOGGER.log(System.Logger.Level.ERROR, "a watch cannot read the journal", e);
      fail(
          Status.DATA_LOSS.withDescription("cannot read the journal: " + e.getMessage()),
          new Metadata());
    } catch (RuntimeException e) {
      failed(e);
    }
  }

  private void failed(RuntimeException failure) {
    LOGGER.log(System.Logger.Level.ERROR, "a watch has failed", failure);
    fail(Status.INTERNAL.withDescription("the watch failed").withCause(failure), new Metadata());
  }

  private void begin() {
    try {
      place();
    } catch (RuntimeException e) {
      failed(e);
    }
  }

  private void place() {
    if (failure.get() != null) {
      fail(failure.get(), new Metadata());
      return;
    }
    final long[] lsns = new long[feeds.index().partitions()];
    for (int i = 0; i < lsns.length; i++) {
      lsns[i] = WatchToken.UNWATCHED;
      if (subject.includes(i)) {
        final long last = feeds.ring(i).last();
        lsns[i] = subject.token() == null ? last : subject.token().lsn(i);
        if (lsns[i] < 0 || lsns[i] > last) {
          fail(
              Status.INVALID_ARGUMENT.withDescription(
                  lsns[i] < 0
                      ? "the token is of a watch of another key: token"
                      : "the token is of changes that never were: token"),
              new Metadata());
          return;
        }
      }
    }
    cursor = new WatchCursor(feeds, lsns);
    state = State.OPEN;
    send();
  }

  private void advance() throws IOException {
    final Status trouble = calls.trouble(feeds.index());
    WatchCursor.State step = WatchCursor.State.MORE;
    int turns = TURN;
    while (step == WatchCursor.State.MORE
        && turns > 0
        && !signals.isCancelled()
        && responses.isReady()) {
      turns--;
      step = cursor.step(subject.batch());
      if (!subject.batch().isEmpty() || isSilent()) {
        send();
      }
    }
    if (step == WatchCursor.State.GONE) {
      gone();
    } else if (step == WatchCursor.State.SLOW || cursor.isSlow()) {
      slow();
    } else if (trouble != null) {
      fail(trouble, new Metadata());
    } else if (step == WatchCursor.State.MORE && responses.isReady()) {
      feeds.wake();
    }
  }

  private boolean isSilent() {
    return calls.nowNs() - sentNs >= subject.progressNs() || cursor.isFarFromSent();
  }

  private void send() {
    sentNs = calls.nowNs();
    cursor.sent();
    responses.onNext(subject.batch().take(cursor.token(), feeds.incarnation()));
  }

  /** Sends the token, whether or not it is due, if the client takes it. */
  void progress() {
    if (state == State.OPEN && !signals.isCancelled() && responses.isReady()) {
      send();
    }
  }

  private void slow() {
    fail(
        Status.RESOURCE_EXHAUSTED.withDescription(
            "the client takes changes too slowly: limit="
                + calls.budget().share()
                + " bytes of changes that wait, of a partition; watch again from the last token"),
        new Metadata());
  }

  private void gone() {
    final ByteString oldest = cursor.oldest();
    final Metadata trailers = new Metadata();
    trailers.put(OLDEST_TOKEN, oldest.toByteArray());
    fail(
        Status.OUT_OF_RANGE.withDescription(
            "the changes after the token are kept no more: oldest token="
                + Base64.getUrlEncoder().withoutPadding().encodeToString(oldest.toByteArray())
                + "; read the entries again"),
        trailers);
  }

  /** Ends the call; before that, sends the token if the client takes it. */
  void end(Status status) {
    if (state == State.READING) {
      ending = status;
      return;
    }
    progress();
    fail(status, new Metadata());
  }

  private void fail(Status status, Metadata trailers) {
    if (state != State.ENDED) {
      ended();
      responses.onError(status.asException(trailers));
    }
  }

  private void ended() {
    state = State.ENDED;
    calls.left(feeds, this);
  }
}
