package dev.ringfetch.index;

import dev.ringfetch.index.service.IndexService;
import dev.ringfetch.index.store.Indexes;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import java.io.IOException;

/** An index server in this JVM, over plain gRPC, with a channel to it. */
public final class LocalServer implements AutoCloseable {
  private final Server server;
  private final ManagedChannel channel;

  private LocalServer(Server server) {
    this.server = server;
    channel =
        ManagedChannelBuilder.forAddress("localhost", server.getPort()).usePlaintext().build();
  }

  /** Starts a server without entries. */
  public static LocalServer start() throws IOException {
    final HealthStatusManager health = new HealthStatusManager();
    final IndexService index = new IndexService(new Indexes());
    return new LocalServer(
        IndexServer.addServices(ServerBuilder.forPort(0), index, health).build().start());
  }

  /** A channel to the server; closed with it. */
  public ManagedChannel channel() {
    return channel;
  }

  @Override
  public void close() {
    channel.shutdownNow();
    server.shutdownNow();
  }
}
