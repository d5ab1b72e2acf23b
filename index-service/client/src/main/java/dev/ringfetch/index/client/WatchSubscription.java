package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.WatchEvent;
import dev.ringfetch.index.v1.WatchRequest;
import dev.ringfetch.index.v1.WatchResponse;
import io.grpc.Status;

/**
 * A watch whose changes go to a listener; otherwise as {@link Watch}. It begins when the server
 * answers; until then, and while the server is away, the listener hears nothing.
 *
 * <p>Safe for use by many threads.
 */
public final class WatchSubscription<K, V> implements AutoCloseable {
  private final IndexRequests<K, V> requests;
  private final KnownIndex known;
  private final Subject subject;
  private final boolean keysOnly;
  private final WatchListener<K, V> listener;
  private final WatchConnection connection;
  private volatile ByteString token;
  private volatile boolean ended;

  private WatchSubscription(
      View<K, V> view, WatchRequest request, WatchOptions options, WatchListener<K, V> listener) {
    requests = view.requests();
    known = view.known();
    subject = view.subject(Operation.WATCH, null);
    keysOnly = options.isKeysOnly();
    token = options.token();
    this.listener = listener;
    connection =
        new WatchConnection(
            view.calls(),
            subject,
            request,
            options,
            new WatchConnection.Receiver() {
              @Override
              public void onResponse(WatchResponse response) {
                deliver(response);
              }

              @Override
              public void onEnd(IndexException failure) {
                end(failure);
              }
            });
  }

  static <K, V> WatchSubscription<K, V> start(
      View<K, V> view, WatchRequest request, WatchOptions options, WatchListener<K, V> listener) {
    final WatchSubscription<K, V> started =
        new WatchSubscription<>(view, request, options, listener);
    started.connection.start();
    return started;
  }

  private void deliver(WatchResponse response) {
    try {
      for (final WatchEvent event : response.getEventsList()) {
        if (ended) {
          return;
        }
        listener.onChange(requests.change(subject, event, keysOnly));
      }
      token = response.getToken();
      listener.onProgress(token);
    } catch (IndexException e) { // of a codec
      connection.close();
      end(e);
    } catch (RuntimeException e) {
      connection.close();
      end(
          Failures.of(
              subject,
              Status.INTERNAL.withDescription("the listener of the watch has thrown").withCause(e),
              false));
    } finally {
      if (response.getEventsCount() > 0) {
        connection.taken();
      }
    }
  }

  private void end(IndexException failure) {
    if (!ended) {
      ended = true;
      known.failed(failure);
      listener.onEnd(failure);
    }
  }

  /** The place behind the changes that the listener has got; empty if the server has not begun. */
  public ByteString token() {
    return token;
  }

  /** Ends the watch: the listener gets at most the change that is on its way. Idempotent. */
  @Override
  public void close() {
    ended = true;
    connection.close();
  }
}
