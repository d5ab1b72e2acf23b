package dev.ringfetch.index;

import dev.ringfetch.index.direct.DirectContext;
import dev.ringfetch.index.direct.DirectReader;
import dev.ringfetch.index.service.DirectAccessService;
import dev.ringfetch.index.service.IndexMemory;
import dev.ringfetch.index.service.IndexMemoryContext;
import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.CreateIndexResponse;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/** An index server in this JVM that grants direct reads, with a channel to it. */
final class DirectServer implements AutoCloseable {
  private static final int DEADLINE_SECONDS = 60;

  private final Path directory;
  private final Indexes indexes;
  private final RingServer server;
  private final ManagedChannel channel;

  private DirectServer(Path directory, Indexes indexes, RingServer server) {
    this.directory = directory;
    this.indexes = indexes;
    this.server = server;
    channel = newChannel();
  }

  /**
   * Starts a server without entries.
   *
   * @param directory of shared memory.
   * @param settings of the builder, after its services.
   */
  static DirectServer start(
      Path directory, DirectAccessService.Mode mode, Consumer<RingServerBuilder> settings)
      throws IOException {
    return startWith(
        directory,
        mode,
        (builder, indexes) -> {
          IndexServer.addServices(builder, indexes, new HealthStatusManager());
          settings.accept(builder);
        });
  }

  /** As {@link #start}, with other services beside DirectAccess. */
  static DirectServer startWith(
      Path directory,
      DirectAccessService.Mode mode,
      BiConsumer<RingServerBuilder, Indexes> services)
      throws IOException {
    return startWith(directory, new IndexMemoryContext(), mode, services);
  }

  private static DirectServer startWith(
      Path directory,
      IndexMemoryContext context,
      DirectAccessService.Mode mode,
      BiConsumer<RingServerBuilder, Indexes> services)
      throws IOException {
    final Indexes indexes =
        new Indexes(
            IndexMemory.shared(context.fabrics("shm").shmDirectory(directory).budget(256L << 20)));
    final RingServerBuilder builder = RingServerBuilder.forPort(0).shmDirectory(directory);
    DirectAccessService.addTo(builder, indexes, mode);
    services.accept(builder, indexes);
    return new DirectServer(directory, indexes, builder.build().start());
  }

  static DirectServer start(Path directory) throws IOException {
    return start(directory, DirectAccessService.Mode.UNLESS_INTERCEPTED, builder -> {});
  }

  /** As {@link #start(Path)}, with another number of partitions of each index. */
  static DirectServer start(Path directory, int partitions) throws IOException {
    return startWith(
        directory,
        new IndexMemoryContext().partitions(partitions),
        DirectAccessService.Mode.UNLESS_INTERCEPTED,
        (builder, indexes) -> IndexServer.addServices(builder, indexes, new HealthStatusManager()));
  }

  /** A new channel over plain gRPC. */
  ManagedChannel newChannel() {
    return ManagedChannelBuilder.forAddress("localhost", server.getPort()).usePlaintext().build();
  }

  /** A new reader, over the channel of this. */
  DirectReader openReader(String index) {
    return openReader(channel, index);
  }

  /** One whose calls may take longer than the default. */
  DirectReader openReader(String index, Duration timeout) {
    return DirectReader.open(channel, index, context().timeout(timeout));
  }

  DirectReader openReader(ManagedChannel other, String index) {
    return DirectReader.open(other, index, new DirectContext().shmDirectory(directory));
  }

  /** Creates an index of a kind that clients read themselves. */
  void createHash(String index) {
    final CreateIndexResponse unused =
        admin()
            .createIndex(
                CreateIndexRequest.newBuilder().setIndex(index).setKind(IndexKind.HASH).build());
  }

  /** Options of readers that reach the memory. */
  DirectContext context() {
    return new DirectContext().shmDirectory(directory);
  }

  IndexGrpc.IndexBlockingStub index() {
    return IndexGrpc.newBlockingStub(channel).withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS);
  }

  IndexAdminGrpc.IndexAdminBlockingStub admin() {
    return IndexAdminGrpc.newBlockingStub(channel)
        .withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS);
  }

  @Override
  public void close() {
    channel.shutdownNow();
    server.shutdownNow();
    try {
      server.awaitTermination(DEADLINE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    indexes.close();
  }
}
