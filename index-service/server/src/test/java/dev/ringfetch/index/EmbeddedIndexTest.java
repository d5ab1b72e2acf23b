package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.direct.DirectContext;
import dev.ringfetch.index.direct.DirectReader;
import dev.ringfetch.index.direct.DirectValue;
import dev.ringfetch.index.service.DirectAccessService;
import dev.ringfetch.index.service.IndexMemory;
import dev.ringfetch.index.service.IndexMemoryContext;
import dev.ringfetch.index.service.IndexServices;
import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.ListIndexesRequest;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Indexes on a server of an application, which uses public types alone. */
@Timeout(120)
class EmbeddedIndexTest {
  private static final ByteString KEY = ByteString.copyFromUtf8("key");
  private static final ByteString VALUE = ByteString.copyFromUtf8("value");
  private static final int WAIT_S = 60;

  @TempDir Path shm;
  @TempDir Path data;

  private IndexMemoryContext context() {
    return new IndexMemoryContext()
        .shmDirectory(shm)
        .budget(IndexMemoryContext.BUDGET_MIN)
        .partitions(1);
  }

  @Test
  void clientsReadMemoryThemselves() throws Exception {
    serveAndRead(context());
    assertEquals(List.of(), segments(), "memory of closed indexes");
  }

  @Test
  void clientsReadMemoryBehindTheGateOfADataDirectory() throws Exception {
    final long first = serveAndRead(context().dataDirectory(data));
    // Closed with the indexes: another owner may come.
    assertNotEquals(first, serveAndRead(context().dataDirectory(data)));
    assertTrue(Files.exists(data.resolve("gate")));
    assertEquals(List.of(), segments(), "memory of closed indexes");
  }

  @Test
  void clientsGoByCallsWhereTheModeSaysSo() throws Exception {
    final Indexes indexes = new Indexes(IndexMemory.shared(context()));
    try (Served served = new Served(indexes, DirectAccessService.Mode.NEVER);
        DirectReader reader = served.openReader(shm)) {
      assertFalse(reader.isDirect());
      assertEquals("FAILED_PRECONDITION: the server grants no direct reads", reader.obstacle());
      assertFalse(reader.get(KEY, new DirectValue()));
    }
  }

  @Test
  void directoryOfSharedMemoryThatIsMissingIsNamed() throws IOException {
    final Path missing = shm.resolve("missing");
    final IndexMemoryContext context = context().fabrics("shm").shmDirectory(missing);
    assertEquals(
        "no fabric for index memory: fabrics=[shm] obstacles={shm=not a directory: directory="
            + missing
            + "}",
        assertThrows(IOException.class, () -> IndexMemory.shared(context).close()).getMessage());
    final Indexes alone = new Indexes(IndexMemory.shared(context.fallback(true)));
    try (Served served = new Served(alone, DirectAccessService.Mode.UNLESS_INTERCEPTED);
        DirectReader reader = served.openReader(shm)) {
      assertEquals(
          "FAILED_PRECONDITION: index memory is of the server's process alone", reader.obstacle());
    }
  }

  @Test
  void dataDirectoryThatCannotBeOpenedIsNamed() throws IOException {
    final Path missing = data.resolve("missing").resolve("data");
    assertEquals(
        "the directory that is to hold it does not exist: data=" + missing,
        refusal(context().dataDirectory(missing)));
    final Path file = Files.createFile(data.resolve("file"));
    assertEquals("not a directory: data=" + file, refusal(context().dataDirectory(file)));
    final IndexMemory owner = IndexMemory.ofProcess(context().dataDirectory(data));
    try {
      assertEquals(
          "another server owns the directory: data=" + data.toRealPath(),
          refusal(context().dataDirectory(data)));
    } finally {
      owner.close();
    }
    // What has failed holds nothing.
    IndexMemory.shared(context().dataDirectory(data)).close();
    assertEquals(List.of(), segments());
  }

  @Test
  void memoryThatCannotBeSharedGivesTheDataDirectoryUp() throws IOException {
    final Path deep = deepDirectory(); // too deep for the record of a domain
    final String message = refusal(context().dataDirectory(deep));
    assertTrue(message.startsWith("cannot open index memory: fabric=shm "), message);
    assertTrue(
        message.contains("the gate's path is too long") && message.contains("=" + deep), message);
    IndexMemory.ofProcess(context().dataDirectory(deep)).close();
    assertEquals(List.of(), segments());
  }

  @Test
  void wrongNamesAreRefused() {
    final IndexMemoryContext context = new IndexMemoryContext();
    assertThrows(IllegalArgumentException.class, () -> context.fabrics(" "));
    assertThrows(IllegalArgumentException.class, () -> context.fabrics("shm", "shm"));
    final String message =
        assertThrows(IOException.class, () -> IndexMemory.shared(context.fabrics("mail")).close())
            .getMessage();
    assertTrue(message.contains("{mail=no provider: fabric=mail}"), message);
  }

  private static String refusal(IndexMemoryContext context) {
    return assertThrows(IOException.class, () -> IndexMemory.shared(context).close()).getMessage();
  }

  /** Serves, stores by a call, reads the memory, and closes all. Returns the incarnation. */
  private long serveAndRead(IndexMemoryContext context) throws IOException {
    final Indexes indexes = new Indexes(IndexMemory.shared(context));
    try (Served served = new Served(indexes, DirectAccessService.Mode.UNLESS_INTERCEPTED);
        DirectReader reader = served.openReader(shm)) {
      assertTrue(reader.isDirect(), reader::obstacle);
      final DirectValue value = new DirectValue();
      assertFalse(reader.get(KEY, value), "of an earlier server");
      assertTrue(served.put());
      assertTrue(reader.get(KEY, value));
      assertEquals(VALUE, value.value());
      assertEquals(0, reader.callReads());
      assertEquals(1, served.indexCount());
      return reader.incarnation();
    }
  }

  private Path deepDirectory() throws IOException {
    final int length = 4075; // with the gate's name, less than the system's limit of 4095
    Path path = data.toRealPath();
    while (path.toString().length() < length - 200) {
      path = path.resolve("d".repeat(100));
    }
    path = path.resolve("d".repeat(length - 1 - path.toString().length()));
    return Files.createDirectories(path);
  }

  /** What the fabric's directory has left. */
  private List<Path> segments() throws IOException {
    try (Stream<Path> files = Files.walk(shm)) {
      return files.filter(Files::isRegularFile).toList();
    }
  }

  /** Indexes on a server, with a channel to it; closes them all. */
  private static final class Served implements AutoCloseable {
    private final Indexes indexes;
    private final RingServer server;
    private final ManagedChannel channel;

    Served(Indexes indexes, DirectAccessService.Mode mode) throws IOException {
      this.indexes = indexes;
      server =
          IndexServices.addTo(RingServerBuilder.forPort(0).fabrics(), indexes, mode)
              .build()
              .start();
      channel =
          ManagedChannelBuilder.forAddress("localhost", server.getPort()).usePlaintext().build();
    }

    DirectReader openReader(Path shm) {
      return DirectReader.open(channel, "", new DirectContext().fabrics("shm").shmDirectory(shm));
    }

    boolean put() {
      return IndexGrpc.newBlockingStub(channel)
          .withDeadlineAfter(WAIT_S, TimeUnit.SECONDS)
          .put(PutRequest.newBuilder().setKey(KEY).setValue(VALUE).build())
          .getCreated();
    }

    int indexCount() {
      return IndexAdminGrpc.newBlockingStub(channel)
          .withDeadlineAfter(WAIT_S, TimeUnit.SECONDS)
          .listIndexes(ListIndexesRequest.getDefaultInstance())
          .getIndexesCount();
    }

    @Override
    public void close() {
      channel.shutdownNow();
      server.shutdownNow();
      try {
        server.awaitTermination(WAIT_S, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      indexes.close();
    }
  }
}
