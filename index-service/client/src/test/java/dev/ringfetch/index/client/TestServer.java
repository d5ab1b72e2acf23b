package dev.ringfetch.index.client;

import dev.ringfetch.index.IndexServer;
import dev.ringfetch.index.rights.Rights;
import dev.ringfetch.index.service.DirectAccessService;
import dev.ringfetch.index.service.IndexMemory;
import dev.ringfetch.index.service.IndexMemoryContext;
import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.rpc.RingChannelBuilder;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.BindableService;
import io.grpc.ClientInterceptor;
import io.grpc.InsecureServerCredentials;
import io.grpc.ManagedChannel;
import io.grpc.ServerCredentials;
import io.grpc.protobuf.services.HealthStatusManager;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** A server in this JVM, with rings, and with index memory that may be read directly. */
final class TestServer implements AutoCloseable {
  private static final long MEMORY = 256L << 20;

  private final Path directory;
  private final RingServer server;
  private final Indexes indexes; // null: services of a test

  private TestServer(Path directory, RingServer server, Indexes indexes) {
    this.directory = directory;
    this.server = server;
    this.indexes = indexes;
  }

  /** Starts an index server without entries. */
  static TestServer start(Path directory) throws IOException {
    return start(directory, MEMORY);
  }

  /** Starts an index server with so many bytes of memory. */
  static TestServer start(Path directory, long memory) throws IOException {
    return start(directory, memory, InsecureServerCredentials.create(), null, builder -> {});
  }

  /** Starts an index server without entries and with these credentials. */
  static TestServer start(Path directory, ServerCredentials credentials) throws IOException {
    return start(directory, MEMORY, credentials, null, builder -> {});
  }

  /** As above, with settings of the builder. */
  static TestServer start(
      Path directory, ServerCredentials credentials, Consumer<RingServerBuilder> settings)
      throws IOException {
    return start(directory, MEMORY, credentials, null, settings);
  }

  /** As above, whose callers have these rights. */
  static TestServer start(Path directory, ServerCredentials credentials, Rights rights)
      throws IOException {
    return start(directory, MEMORY, credentials, rights, builder -> {});
  }

  private static TestServer start(
      Path directory,
      long memory,
      ServerCredentials credentials,
      Rights rights,
      Consumer<RingServerBuilder> settings)
      throws IOException {
    final Indexes indexes =
        new Indexes(
            IndexMemory.shared(
                new IndexMemoryContext().fabrics("shm").shmDirectory(directory).budget(memory)));
    final RingServerBuilder builder =
        RingServerBuilder.newServerBuilderForPort(0, credentials).shmDirectory(directory);
    if (rights != null) {
      indexes.rights(rights);
      builder.addTransportFilter(rights.connections());
    }
    DirectAccessService.addTo(builder, indexes, DirectAccessService.Mode.ALWAYS);
    IndexServer.addServices(builder, indexes, new HealthStatusManager());
    settings.accept(builder);
    return new TestServer(directory, builder.build().start(), indexes);
  }

  /** Starts a server of other services. */
  static TestServer startWith(Path directory, BindableService... services) throws IOException {
    final RingServerBuilder builder = RingServerBuilder.forPort(0).shmDirectory(directory);
    for (final BindableService service : services) {
      builder.addService(service);
    }
    return new TestServer(directory, builder.build().start(), null);
  }

  String target() {
    return "localhost:" + server.getPort();
  }

  /** A client with the defaults, but a longer deadline for slow machines. */
  IndexClient connect() {
    return builder().build();
  }

  IndexClientBuilder builder() {
    return IndexClient.builder()
        .target(target())
        .shmDirectory(directory)
        .deadline(Duration.ofSeconds(30));
  }

  /** A channel with rings, whose calls pass these. */
  ManagedChannel channel(ClientInterceptor... interceptors) {
    return RingChannelBuilder.forTarget(target())
        .usePlaintext()
        .shmDirectory(directory)
        .intercept(interceptors)
        .build();
  }

  /** As {@link #builder()}, over a channel. */
  IndexClientBuilder builder(ManagedChannel channel) {
    return IndexClient.builder()
        .channel(channel)
        .shmDirectory(directory)
        .deadline(Duration.ofSeconds(30));
  }

  @Override
  public void close() {
    server.shutdownNow();
    try {
      server.awaitTermination(30, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (indexes != null) {
      indexes.close();
    }
  }
}
