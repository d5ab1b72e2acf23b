package dev.ringfetch.index.cli;

import dev.ringfetch.index.IndexServer;
import dev.ringfetch.index.rights.Rights;
import dev.ringfetch.index.service.DirectAccessService;
import dev.ringfetch.index.service.IndexMemory;
import dev.ringfetch.index.service.IndexMemoryContext;
import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.InsecureServerCredentials;
import io.grpc.ServerCredentials;
import io.grpc.protobuf.services.HealthStatusManager;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** An index server in this JVM, with rings and direct reads. */
final class TestServer implements AutoCloseable {
  static final long MEMORY = 256L << 20;

  private final Path directory;
  private final RingServer server;
  private final Indexes indexes;

  private TestServer(Path directory, RingServer server, Indexes indexes) {
    this.directory = directory;
    this.server = server;
    this.indexes = indexes;
  }

  static TestServer start(Path directory, long memory) throws IOException {
    return start(directory, new IndexMemoryContext().budget(memory));
  }

  /** Starts a server with these credentials. */
  static TestServer start(Path directory, ServerCredentials credentials) throws IOException {
    return start(directory, new IndexMemoryContext().budget(MEMORY), credentials, null);
  }

  /** Starts a server with these options, besides the place of its memory. */
  static TestServer start(Path directory, IndexMemoryContext context) throws IOException {
    return start(directory, context, InsecureServerCredentials.create(), null);
  }

  /** Starts a server whose callers have these rights. */
  static TestServer start(Path directory, Rights rights) throws IOException {
    return start(
        directory,
        new IndexMemoryContext().budget(MEMORY),
        InsecureServerCredentials.create(),
        rights);
  }

  private static TestServer start(
      Path directory, IndexMemoryContext context, ServerCredentials credentials, Rights rights)
      throws IOException {
    final Indexes indexes =
        new Indexes(IndexMemory.shared(context.fabrics("shm").shmDirectory(directory)));
    final RingServerBuilder builder =
        RingServerBuilder.newServerBuilderForPort(0, credentials).shmDirectory(directory);
    if (rights != null) {
      indexes.rights(rights);
      builder.addTransportFilter(rights.connections());
    }
    DirectAccessService.addTo(builder, indexes, DirectAccessService.Mode.ALWAYS);
    IndexServer.addServices(builder, indexes, new HealthStatusManager());
    return new TestServer(directory, builder.build().start(), indexes);
  }

  String target() {
    return "localhost:" + server.getPort();
  }

  /** Runs a command on this server. */
  Outcome run(String... args) {
    return pipe("", args);
  }

  /** Runs a command on this server, with this standard input. */
  Outcome pipe(String input, String... args) {
    return new Invocation(target()).shm(directory).input(input).run(args);
  }

  /** Ends it at once; calls that are under way fail. */
  @Override
  public void close() {
    server.shutdownNow();
    try {
      server.awaitTermination(30, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    indexes.close();
  }
}
