package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.WatchEvent;
import dev.ringfetch.index.v1.WatchRequest;
import dev.ringfetch.index.v1.WatchResponse;
import io.grpc.Status;
import java.time.Duration;
import java.util.Collections;
import java.util.Iterator;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A watch of the changes of an index, which an application takes one by one.
 *
 * <pre>{@code
 * try (Watch<String, Long> watch = ages.watch(WatchOptions.fromNow())) {
 *   while (true) {
 *     watch.next(Duration.ofSeconds(10)).ifPresent(change -> use(change));
 *   }
 * }
 * }</pre>
 *
 * <p>Each change that is committed after the begin comes once; those of one key come in the order
 * of their versions, those of different keys in no order. After the loss of the connection or the
 * server, the watch resumes where it was as soon as a server is back. It never ends silently;
 * {@link #next} throws
 *
 * <ul>
 *   <li>{@link HistoryGoneException} if the server no longer has the next changes: read the entries
 *       again;
 *   <li>{@link FullException} if the application takes the changes too slowly, or the server has
 *       too many watches;
 *   <li>ABORTED if the index was dropped, or has ended with its server; NOT_FOUND if the next
 *       server has none;
 *   <li>{@link UnavailableException} if no server came back within the {@linkplain
 *       WatchOptions#outageLimit limit}.
 * </ul>
 *
 * <p>Used by one thread at a time; any thread may close it.
 */
public final class Watch<K, V> implements AutoCloseable {
  private final IndexRequests<K, V> requests;
  private final Subject subject;
  private final boolean keysOnly;
  private final WatchConnection connection;
  private final KnownIndex known;
  private boolean closed; // guarded by this

  // Of the thread that takes.
  private WatchResponse response = WatchResponse.getDefaultInstance();
  private Iterator<WatchEvent> events = Collections.emptyIterator();
  private ByteString token;

  private Watch(View<K, V> view, WatchRequest request, WatchOptions options) {
    requests = view.requests();
    known = view.known();
    subject = view.subject(Operation.WATCH, null);
    keysOnly = options.isKeysOnly();
    token = options.token();
    connection = new WatchConnection(view.calls(), subject, request, options, this::wake);
  }

  /** Begins a watch, and waits until the server has begun it. */
  static <K, V> Watch<K, V> open(View<K, V> view, WatchRequest request, WatchOptions options) {
    final OperationRun run = view.begin(Operation.WATCH, null);
    return run.measure(
        () -> {
          final Watch<K, V> watch = new Watch<>(view, request, options);
          watch.connection.start();
          boolean opened = false;
          try {
            watch.awaitOpen(run);
            opened = true;
            return watch;
          } finally {
            if (!opened) {
              watch.close();
            }
          }
        });
  }

  private void awaitOpen(OperationRun run) {
    if (!take(System.nanoTime() + run.leftNs())) {
      throw run.failure(
          Status.UNAVAILABLE.withDescription("no server has begun the watch in time"), false);
    }
  }

  private void await(long nanos) {
    try {
      TimeUnit.NANOSECONDS.timedWait(this, Math.max(nanos, 1));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Failures.of(
          subject, Status.CANCELLED.withDescription("Thread interrupted").withCause(e), false);
    }
  }

  /**
   * Takes the next change, and waits for it.
   *
   * @param timeout how long to wait at most; zero for no wait.
   * @return empty if none came in time.
   * @throws IndexException after the end of the watch, on every call; with CANCELLED if the thread
   *     is interrupted (it stays interrupted).
   * @throws IllegalStateException if the watch was closed.
   */
  public Optional<IndexChange<K, V>> next(Duration timeout) {
    final long endNs = System.nanoTime() + timeout.toNanos();
    while (!events.hasNext()) {
      if (!take(endNs)) {
        return Optional.empty();
      }
    }
    final WatchEvent event = events.next();
    try {
      final IndexChange<K, V> change = requests.change(subject, event, keysOnly);
      if (!events.hasNext()) {
        token = response.getToken();
      }
      return Optional.of(change);
    } finally { // also where a codec has thrown
      if (!events.hasNext()) {
        connection.done();
      }
    }
  }

  /** Takes a response; returns false if none came in time. */
  private synchronized boolean take(long endNs) {
    WatchResponse next = poll();
    while (next == null) {
      final long leftNs = endNs - System.nanoTime();
      if (leftNs <= 0) {
        return false;
      }
      await(leftNs);
      next = poll();
    }
    response = next;
    events = response.getEventsList().iterator();
    if (!events.hasNext()) {
      token = response.getToken();
    }
    return true;
  }

  private WatchResponse poll() {
    if (closed) {
      throw new IllegalStateException("the watch is closed: " + subject);
    }
    final WatchResponse next = connection.poll();
    final IndexException failure = next == null ? connection.end() : null;
    if (failure != null) {
      known.failed(failure);
      throw failure;
    }
    return next;
  }

  /**
   * The position of the watch, for {@link WatchOptions#from}: after the changes that were taken.
   * Changes that share a response with later ones come again.
   */
  public ByteString token() {
    return token;
  }

  private synchronized void wake() {
    notifyAll();
  }

  /** Ends the watch. Idempotent. */
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      notifyAll();
    }
    connection.close();
  }
}
