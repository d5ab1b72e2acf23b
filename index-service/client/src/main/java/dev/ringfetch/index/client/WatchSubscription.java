package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.WatchEvent;
import dev.ringfetch.index.v1.WatchRequest;
import dev.ringfetch.index.v1.WatchResponse;
import io.grpc.Status;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A watch that delivers changes to a listener; otherwise like {@link Watch}. It begins when the
 * server answers; until then, and while the server is away, the listener is not called.
 *
 * <p>Safe for use by many threads.
 */
public final class WatchSubscription<K, V> implements AutoCloseable {
  private enum State {
    OPEN,
    /** The listener was told of the end, or is about to be. */
    ENDED,
    /** The application has closed it. */
    CLOSED
  }

  private final IndexRequests<K, V> requests;
  private final KnownIndex known;
  private final Subject subject;
  private final boolean keysOnly;
  private final WatchListener<K, V> listener;
  private final WatchConnection connection;
  private final ClientThreads threads;
  private final AtomicReference<State> state = new AtomicReference<>(State.OPEN);

  /**
   * Number of events that the delivery has not processed; above 0 while a delivery is due or under
   * way.
   */
  private final AtomicInteger events = new AtomicInteger();

  private volatile ByteString token;

  private WatchSubscription(
      View<K, V> view, WatchRequest request, WatchOptions options, WatchListener<K, V> listener) {
    requests = view.requests();
    known = view.known();
    subject = view.subject(Operation.WATCH, null);
    keysOnly = options.isKeysOnly();
    token = options.token();
    threads = view.calls().threads();
    this.listener = listener;
    connection = new WatchConnection(view.calls(), subject, request, options, this::deliverLater);
  }

  static <K, V> WatchSubscription<K, V> start(
      View<K, V> view, WatchRequest request, WatchOptions options, WatchListener<K, V> listener) {
    final WatchSubscription<K, V> started =
        new WatchSubscription<>(view, request, options, listener);
    started.connection.start();
    return started;
  }

  /** Notes an event; begins the delivery unless it is due, or under way: one runs at a time. */
  private void deliverLater() {
    if (events.getAndIncrement() == 0) {
      threads.run(() -> takeTurn(null));
    }
  }

  /** One task of the delivery. */
  private static final class Turn {
    final Thread thread = Thread.currentThread();
    boolean isRunning = true; // used by the thread alone, as is the other one
    boolean goesOn;
  }

  /**
   * Delivers one response. Each further one is a task of its own, queued behind tasks of other
   * watches; an executor that runs tasks inline makes this a loop.
   *
   * @param before the turn that submitted this task; null for the first one
   */
  private void takeTurn(Turn before) {
    if (before != null && before.thread == Thread.currentThread() && before.isRunning) {
      before.goesOn = true;
      return;
    }
    final Turn turn = new Turn();
    do {
      turn.goesOn = false;
      if (deliverNext()) {
        threads.run(() -> takeTurn(turn));
      }
    } while (turn.goesOn);
    turn.isRunning = false;
  }

  /** Delivers the next event to the listener; false if there is none. */
  private boolean deliverNext() {
    final int seen = events.get();
    final WatchResponse response = connection.poll();
    if (response != null) {
      deliver(response);
      return true;
    }
    final IndexException failure = connection.end();
    if (failure != null) {
      end(failure);
    }
    return events.addAndGet(-seen) != 0;
  }

  private void deliver(WatchResponse response) {
    try {
      for (final WatchEvent event : response.getEventsList()) {
        if (state.get() != State.OPEN) {
          return;
        }
        listener.onChange(requests.change(subject, event, keysOnly));
      }
      token = response.getToken();
      if (state.get() == State.OPEN) {
        listener.onProgress(token);
      }
    } catch (IndexException e) { // of a codec
      connection.close();
      end(e);
    } catch (RuntimeException | Error e) {
      connection.close();
      end(
          Failures.of(
              subject,
              Status.INTERNAL.withDescription("the listener of the watch has thrown").withCause(e),
              false));
    } finally {
      if (response.getEventsCount() > 0) {
        connection.done();
      }
    }
  }

  private void end(IndexException failure) {
    if (state.compareAndSet(State.OPEN, State.ENDED)) {
      known.failed(failure);
      listener.onEnd(failure);
    }
  }

  /**
   * The position after the changes that the listener has received; empty if the watch has not
   * begun.
   */
  public ByteString token() {
    return token;
  }

  /**
   * Ends the watch: the listener gets at most the change that is being delivered, and no call at
   * the end. Does not wait, so the listener itself may close it. Idempotent.
   */
  @Override
  public void close() {
    state.compareAndSet(State.OPEN, State.CLOSED);
    connection.close();
  }
}
