package dev.ringfetch.index;

import dev.ringfetch.index.service.IndexMemory;
import dev.ringfetch.index.service.Indexes;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import java.io.IOException;

/** An index server in this JVM, over plain gRPC, with a channel to it. */
public final class LocalServer implements AutoCloseable {
  /** Bytes of its index memory. */
  public static final long MEMORY = 256L << 20;

  private final Server server;
  private final ManagedChannel channel;
  private final Indexes indexes;

  private LocalServer(Server server, Indexes indexes) {
    this.server = server;
    this.indexes = indexes;
    channel =
        ManagedChannelBuilder.forAddress("localhost", server.getPort()).usePlaintext().build();
  }

  /** Starts a server without entries. */
  public static LocalServer start() throws IOException {
    return start(MEMORY);
  }

  /** Starts a server without entries, and with so many bytes of index memory. */
  public static LocalServer start(long memory) throws IOException {
    return start(IndexMemory.ofProcess(memory));
  }

  /** Starts a server with this index memory, which is closed with it. */
  public static LocalServer start(IndexMemory memory) throws IOException {
    return start(new Indexes(memory));
  }

  /** Starts a server of these indexes, which are closed with it. */
  public static LocalServer start(Indexes indexes) throws IOException {
    final HealthStatusManager health = new HealthStatusManager();
    return new LocalServer(
        IndexServer.addServices(ServerBuilder.forPort(0), indexes, health).build().start(),
        indexes);
  }

  /** A channel to the server; closed with it. */
  public ManagedChannel channel() {
    return channel;
  }

  /** Ends calls, then the server, then the indexes. */
  @Override
  public void close() {
    channel.shutdownNow();
    server.shutdownNow();
    try {
      server.awaitTermination();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    indexes.close();
  }
}
