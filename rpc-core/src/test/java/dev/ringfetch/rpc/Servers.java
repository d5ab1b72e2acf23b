package dev.ringfetch.rpc;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.BindableService;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.Status;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The servers of a channel: each counts its calls, can fail them, and can come back at its port.
 */
final class Servers {
  private final Path directory;
  private final List<Server> servers = new ArrayList<>();
  private final List<AtomicLong> served = new ArrayList<>();
  private final List<HealthStatusManager> health = new ArrayList<>();
  private final Set<Integer> failing = ConcurrentHashMap.newKeySet();

  Servers(Path directory) {
    this.directory = directory;
  }

  /** Adds servers that offer rings. */
  void add(int count) throws IOException {
    for (int i = 0; i < count; i++) {
      add(rings(0));
    }
  }

  /** Adds a server. */
  void add(ServerBuilder<?> builder) throws IOException {
    served.add(new AtomicLong());
    health.add(new HealthStatusManager());
    servers.add(start(builder, served.size() - 1));
  }

  private RingServerBuilder rings(int port) {
    return RingServerBuilder.forPort(port).shmDirectory(directory).spinTime(Duration.ZERO);
  }

  private Server start(ServerBuilder<?> builder, int index) throws IOException {
    final BindableService reporting = health.get(index).getHealthService();
    return builder
        .addService(reporting)
        .addService(
            RingFixture.service(
                ServerCalls.asyncUnaryCall(
                    (byte[] request, StreamObserver<byte[]> responses) -> {
                      served.get(index).incrementAndGet();
                      if (failing.contains(index)) {
                        responses.onError(Status.UNAVAILABLE.asRuntimeException());
                      } else {
                        responses.onNext(request);
                        responses.onCompleted();
                      }
                    })))
        .build()
        .start();
  }

  int size() {
    return servers.size();
  }

  Server get(int index) {
    return servers.get(index);
  }

  List<Integer> ports() {
    return servers.stream().map(Server::getPort).toList();
  }

  /** Returns how many calls have come to each server. */
  List<Long> served() {
    return served.stream().map(AtomicLong::get).toList();
  }

  /** Lets all further calls of a server end UNAVAILABLE. */
  void fail(int index) {
    failing.add(index);
  }

  HealthStatusManager health(int index) {
    return health.get(index);
  }

  /** Stops a server with its calls. */
  void stop(int index) throws InterruptedException {
    servers.get(index).shutdownNow();
    assertTrue(servers.get(index).awaitTermination(TransportHarness.TIMEOUT_S, TimeUnit.SECONDS));
  }

  /** Starts a server again that was stopped, at its port. */
  void restart(int index, int port) throws IOException {
    health.set(index, new HealthStatusManager());
    servers.set(index, start(rings(port), index));
  }

  /** Stops all. */
  void stop() throws InterruptedException {
    for (int i = 0; i < servers.size(); i++) {
      stop(i);
    }
  }
}
