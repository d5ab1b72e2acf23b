package dev.ringfetch.index;

import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.protobuf.services.HealthStatusManager;

/**
 * The health of a server, for gRPC's health service and for probes over HTTP: a {@link State} that
 * only goes on, whichever thread is first.
 *
 * <p>Thread-safe.
 */
final class ServerHealth {
  /** A state of a server. Each may follow each of those before it, and none of those after it. */
  enum State {
    /** The server reads its journal. */
    STARTING("starting: the server reads its journal"),
    /** The indexes are there; a node has not read yet what the coordinator has. */
    RECOVERED("starting: the node has not reached its coordinator"),
    /** The server takes calls. */
    SERVING("ready"),
    /** The server ends. */
    STOPPING("stopping");

    private final String text;

    State(String text) {
      this.text = text;
    }

    /** The state in words, for probes. */
    String text() {
      return text;
    }
  }

  private final HealthStatusManager grpc = new HealthStatusManager();
  private volatile State state = State.STARTING; // written under the monitor
  private boolean writingEnded; // guarded by this

  /** The statuses of the services. */
  HealthStatusManager grpc() {
    return grpc;
  }

  State state() {
    return state;
  }

  /** Whether the server takes calls. */
  boolean isReady() {
    return state == State.SERVING;
  }

  /** Begins to answer health checks with NOT_SERVING. */
  synchronized void start() {
    say(ServingStatus.NOT_SERVING);
  }

  /** Called when the indexes are there. */
  synchronized void recovered() {
    advance(State.RECOVERED);
  }

  /** Called when calls are answered, by a node perhaps while the server stops already. */
  synchronized void serve() {
    if (advance(State.SERVING)) {
      say(ServingStatus.SERVING);
    }
  }

  /** Called when the disk has failed: other services go on. */
  synchronized void endWriting() {
    writingEnded = true;
    grpc.setStatus(IndexServer.WRITING, ServingStatus.NOT_SERVING);
  }

  /** Sets all services NOT_SERVING, for ever. */
  synchronized void stop() {
    if (advance(State.STOPPING)) {
      grpc.enterTerminalState();
    }
  }

  /** Enters a state, unless the server is in it or in a later one. Returns whether it does. */
  private boolean advance(State to) {
    final boolean isLater = to.compareTo(state) > 0;
    if (isLater) {
      state = to;
    }
    return isLater;
  }

  private void say(ServingStatus status) {
    grpc.setStatus(HealthStatusManager.SERVICE_NAME_ALL_SERVICES, status);
    grpc.setStatus(IndexGrpc.SERVICE_NAME, status);
    grpc.setStatus(IndexAdminGrpc.SERVICE_NAME, status);
    grpc.setStatus(IndexServer.WRITING, writingEnded ? ServingStatus.NOT_SERVING : status);
  }
}
