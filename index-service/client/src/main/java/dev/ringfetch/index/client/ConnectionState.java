package dev.ringfetch.index.client;

import io.grpc.Status;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/**
 * Whether a client reaches its server, as its calls find it; tells the application's listener of
 * changes. Safe for use by many threads.
 */
final class ConnectionState {
  private static final Logger LOGGER = System.getLogger(ConnectionState.class.getName());

  private final ConnectionListener listener; // null if there is none
  private final ClientThreads threads;
  private volatile boolean connected;
  private volatile Status reason = Status.UNAVAILABLE; // of the last loss
  private boolean told; // guarded by this
  private boolean telling; // guarded by this

  ConnectionState(ConnectionListener listener, ClientThreads threads) {
    this.listener = listener;
    this.threads = threads;
  }

  /** Whether the last call that said anything of that was answered. */
  boolean isConnected() {
    return connected;
  }

  /** Notes that a call was answered. */
  void answered() {
    if (!connected) {
      connected = true;
      changed();
    }
  }

  /** Notes that a call was not answered. */
  void lost(Status status) {
    if (connected) {
      reason = status;
      connected = false;
      changed();
    }
  }

  private void changed() {
    if (listener != null) {
      threads.run(this::tell);
    }
  }

  private void tell() {
    while (begin()) {
      try {
        if (told) {
          listener.onConnected();
        } else {
          listener.onLost(reason);
        }
      } catch (RuntimeException e) { // of the application; it hears of later changes all the same
        LOGGER.log(Level.WARNING, "a connection listener has failed", e);
      } finally {
        end();
      }
    }
  }

  /** Whether there is a change to tell; no other thread tells one then. */
  private synchronized boolean begin() {
    final boolean begins = !telling && told != connected;
    if (begins) {
      telling = true;
      told = connected;
    }
    return begins;
  }

  private synchronized void end() {
    telling = false;
  }
}
