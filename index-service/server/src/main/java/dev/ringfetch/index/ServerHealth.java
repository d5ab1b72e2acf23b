package dev.ringfetch.index;

import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.protobuf.services.HealthStatusManager;

/**
 * The health of a server, for gRPC's health service and for probes over HTTP. It goes from {@link
 * #STARTING} over {@link #RECOVERED} and {@link #SERVING} to {@link #STOPPING}.
 *
 * <p>Thread-safe.
 */
final class ServerHealth {
  /** Text of a server that reads its journal. */
  static final String STARTING = "starting: the server reads its journal";

  /** Text of a node that has not read yet what the coordinator has. */
  static final String RECOVERED = "starting: the node has not reached its coordinator";

  /** Text of a server that takes calls. */
  static final String SERVING = "ready";

  /** Text of a server that ends. */
  static final String STOPPING = "stopping";

  private final HealthStatusManager grpc = new HealthStatusManager();
  private volatile String text = STARTING;
  private boolean writingEnded; // guarded by this

  /** The statuses of the services. */
  HealthStatusManager grpc() {
    return grpc;
  }

  /** One of the texts of this class. */
  String text() {
    return text;
  }

  /** Whether the server takes calls. */
  boolean isReady() {
    return text.equals(SERVING);
  }

  /** Begins to answer health checks with NOT_SERVING. */
  void start() {
    say(ServingStatus.NOT_SERVING);
  }

  /** Called when the indexes are there. */
  void recovered() {
    text = RECOVERED;
  }

  /** Called when calls are answered. */
  void serve() {
    text = SERVING;
    say(ServingStatus.SERVING);
  }

  /** Called when the disk has failed: other services go on. */
  synchronized void endWriting() {
    writingEnded = true;
    grpc.setStatus(IndexServer.WRITING, ServingStatus.NOT_SERVING);
  }

  /** Sets all services NOT_SERVING, for ever. */
  void stop() {
    text = STOPPING;
    grpc.enterTerminalState();
  }

  private synchronized void say(ServingStatus status) {
    grpc.setStatus(HealthStatusManager.SERVICE_NAME_ALL_SERVICES, status);
    grpc.setStatus(IndexGrpc.SERVICE_NAME, status);
    grpc.setStatus(IndexAdminGrpc.SERVICE_NAME, status);
    grpc.setStatus(IndexServer.WRITING, writingEnded ? ServingStatus.NOT_SERVING : status);
  }
}
