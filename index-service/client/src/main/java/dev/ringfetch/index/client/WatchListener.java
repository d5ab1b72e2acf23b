package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;

/**
 * Receives what a watch brings, one call at a time, on threads of the channel: it must not block
 * for long, nor wait for another operation of the client. If it throws, the watch ends.
 */
public interface WatchListener<K, V> {
  /** Called with each change, once; those of one key come in the order of their versions. */
  void onChange(IndexChange<K, V> change);

  /**
   * Called after the changes of a response, and about each second without changes.
   *
   * @param token from which a later watch goes on behind all changes so far.
   */
  default void onProgress(ByteString token) {}

  /**
   * Called at the end, once, unless the application has closed the watch.
   *
   * @param failure a {@link HistoryGoneException} where changes would be missing.
   */
  void onEnd(IndexException failure);
}
