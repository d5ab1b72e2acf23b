package dev.ringfetch.index.client;

import io.grpc.Status;

/**
 * A listener for whether a client reaches its server, as the client's calls find it: a client
 * without operations notices nothing. Calls of the listener come one at a time, on the {@linkplain
 * IndexClientBuilder#executor executor}; a slow listener gets the newest change alone.
 */
public interface ConnectionListener {
  /** A call was answered: the first one, or the first one after a loss. */
  void onConnected();

  /**
   * A call has lost the server, or got no answer in time, after one was answered. Operations are
   * repeated until their deadlines meanwhile.
   *
   * @param reason of the first such call since the last answer
   */
  void onLost(Status reason);
}
