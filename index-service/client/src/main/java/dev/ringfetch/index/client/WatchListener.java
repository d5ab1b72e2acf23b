package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;

/**
 * A receiver of the changes of a watch.
 *
 * <ul>
 *   <li>Its methods are called one at a time, each after the one before has returned, on the
 *       {@linkplain IndexClientBuilder#executor executor} of the client: threads change, but each
 *       call sees the writes of the calls before it.
 *   <li>Changes of one key come in the order of their versions, each once, even if the watch
 *       resumes at another server. The token never goes back.
 *   <li>{@link #onEnd} is called once, and is the last call; it is not called if the application
 *       has closed the watch.
 *   <li>A listener may run for long, wait for other operations of the client, and close the watch
 *       or the client. To wait for a future it needs an executor with another thread, which
 *       delivers the answer. While it runs, the server sends at most two more responses and keeps
 *       further changes. If those exceed the server's limit, the watch ends with {@link
 *       FullException}. A slow listener is never mistaken for a silent server.
 *   <li>If it throws, the watch ends with INTERNAL, and the exception as its cause.
 * </ul>
 */
public interface WatchListener<K, V> {
  /** Called with each change. */
  void onChange(IndexChange<K, V> change);

  /**
   * Called after the changes of a response, and about each second without changes.
   *
   * @param token from which a later watch goes on behind all changes so far.
   */
  default void onProgress(ByteString token) {}

  /**
   * Called at the end.
   *
   * @param failure a {@link HistoryGoneException} if changes would be missing.
   */
  void onEnd(IndexException failure);
}
