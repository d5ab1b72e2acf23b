package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.CompareAndSetRequest;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DeleteRequest;
import dev.ringfetch.index.v1.DescribeRequest;
import dev.ringfetch.index.v1.DropIndexRequest;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexDescription;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.PutRequest;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Indexes with a journal: what the next server has of them. */
@Timeout(60)
class DurableIndexesTest {
  @TempDir Path data;

  private Duration interval = IndexMemoryContext.SYNC_INTERVAL_DEFAULT;
  private Indexes indexes;
  private Server server;
  private ManagedChannel channel;
  private IndexGrpc.IndexBlockingStub index;
  private IndexAdminGrpc.IndexAdminBlockingStub admin;

  private void start(Durability durability) throws IOException {
    indexes =
        new Indexes(
            IndexMemory.ofProcess(
                new IndexMemoryContext()
                    .budget(64L << 20)
                    .dataDirectory(data)
                    .durability(durability)
                    .syncInterval(interval)));
    server =
        ServerBuilder.forPort(0)
            .addService(new IndexService(indexes))
            .addService(new IndexAdminService(indexes))
            .build()
            .start();
    channel =
        ManagedChannelBuilder.forAddress("localhost", server.getPort()).usePlaintext().build();
    index = IndexGrpc.newBlockingStub(channel);
    admin = IndexAdminGrpc.newBlockingStub(channel);
  }

  @AfterEach
  void stop() throws InterruptedException {
    channel.shutdownNow();
    server.shutdown();
    server.awaitTermination();
    indexes.close();
  }

  private void restart(Durability durability) throws Exception {
    stop();
    start(durability);
  }

  private static ByteString key(int number) {
    return ByteString.copyFromUtf8("key " + number);
  }

  private long put(String name, int number, String value) {
    return index
        .put(
            PutRequest.newBuilder()
                .setIndex(name)
                .setKey(key(number))
                .setValue(ByteString.copyFromUtf8(value))
                .build())
        .getVersion();
  }

  private Entry get(String name, int number) {
    return index.get(GetRequest.newBuilder().setIndex(name).setKey(key(number)).build()).getEntry();
  }

  private IndexDescription describe(String name) {
    return index.describe(DescribeRequest.newBuilder().setIndex(name).build()).getIndex();
  }

  @Test
  void theNextServerHasAllEntriesOfBothKinds() throws Exception {
    start(Durability.DISK);
    for (final IndexKind kind : new IndexKind[] {IndexKind.HASH, IndexKind.ORDERED}) {
      final String name = kind.name();
      admin.createIndex(CreateIndexRequest.newBuilder().setIndex(name).setKind(kind).build());
      for (int i = 0; i < 500; i++) {
        put(name, i, "first");
      }
      for (int i = 0; i < 500; i += 2) {
        put(name, i, "second");
      }
      for (int i = 0; i < 500; i += 5) {
        index.delete(DeleteRequest.newBuilder().setIndex(name).setKey(key(i)).build());
      }
      final Entry seven = get(name, 7);
      index.compareAndSet(
          CompareAndSetRequest.newBuilder()
              .setIndex(name)
              .setKey(key(7))
              .setExpectedVersion(seven.getVersion())
              .setValue(ByteString.copyFromUtf8("third"))
              .build());
    }
    final BatchPutRequest.Builder batch = BatchPutRequest.newBuilder().setIndex("HASH");
    for (int i = 1000; i < 1100; i++) {
      batch.addEntriesBuilder().setKey(key(i)).setValue(ByteString.copyFromUtf8("batch"));
    }
    index.batchPut(batch.build());
    final IndexDescription[] before = {describe("HASH"), describe("ORDERED")};
    final long version = get("HASH", 7).getVersion();

    restart(Durability.DISK);

    assertEquals(500, describe("HASH").getEntries());
    assertEquals(400, describe("ORDERED").getEntries());
    for (final IndexDescription description : before) {
      final String name = description.getName();
      assertEquals(description.getIncarnation(), describe(name).getIncarnation());
      assertEquals(description.getKind(), describe(name).getKind());
      assertEquals(Durability.DISK, describe(name).getDurability());
      assertFalse(
          index.get(GetRequest.newBuilder().setIndex(name).setKey(key(10)).build()).hasEntry());
      assertEquals("second", get(name, 2).getValue().toStringUtf8());
      assertEquals("first", get(name, 3).getValue().toStringUtf8());
      assertEquals("third", get(name, 7).getValue().toStringUtf8());
    }
    assertEquals("batch", get("HASH", 1099).getValue().toStringUtf8());
    assertEquals(version, get("HASH", 7).getVersion());
    assertTrue(put("HASH", 7, "fourth") > version, "versions only grow");
  }

  @Test
  void droppedIndexesStayDroppedAndTheirNamesAreFree() throws Exception {
    start(Durability.DISK);
    put("a", 1, "old");
    put("b", 1, "old");
    final long incarnation = describe("a").getIncarnation();
    admin.dropIndex(DropIndexRequest.newBuilder().setIndex("a").build());
    admin.dropIndex(DropIndexRequest.newBuilder().setIndex("b").build());
    put("a", 2, "new");
    restart(Durability.DISK);
    assertEquals(1, describe("a").getEntries());
    assertEquals("new", get("a", 2).getValue().toStringUtf8());
    assertTrue(incarnation != describe("a").getIncarnation());
    assertFalse(index.describe(DescribeRequest.newBuilder().setIndex("b").build()).hasIndex());
  }

  @Test
  void eachIndexHasADurabilityOfItsOwn() throws Exception {
    start(Durability.MEMORY);
    for (final Durability durability :
        new Durability[] {
          Durability.MEMORY, Durability.INTERVAL, Durability.LEADER_DISK, Durability.DISK
        }) {
      admin.createIndex(
          CreateIndexRequest.newBuilder()
              .setIndex(durability.name())
              .setDurability(durability)
              .build());
      put(durability.name(), 1, "value");
      assertEquals(durability, describe(durability.name()).getDurability());
    }
    final StatusRuntimeException other =
        assertThrows(
            StatusRuntimeException.class,
            () ->
                admin.createIndex(
                    CreateIndexRequest.newBuilder()
                        .setIndex("DISK")
                        .setDurability(Durability.MEMORY)
                        .build()));
    assertEquals(Status.Code.ALREADY_EXISTS, other.getStatus().getCode());
    restart(Durability.MEMORY);
    assertFalse(index.describe(DescribeRequest.newBuilder().setIndex("MEMORY").build()).hasIndex());
    assertEquals("value", get("INTERVAL", 1).getValue().toStringUtf8());
    assertEquals("value", get("LEADER_DISK", 1).getValue().toStringUtf8());
    assertEquals("value", get("DISK", 1).getValue().toStringUtf8());
  }

  @Test
  void withoutADataDirectoryThereIsNoDurability() throws Exception {
    start(Durability.MEMORY);
    final Indexes none = new Indexes(IndexMemory.ofProcess(64L << 20));
    final StatusException refused =
        assertThrows(
            StatusException.class,
            () -> IndexRequests.create(none, "a", IndexKind.HASH, Durability.DISK));
    assertEquals(Status.Code.FAILED_PRECONDITION, refused.getStatus().getCode());
    none.close();
    assertThrows(
        IOException.class,
        () -> IndexMemory.ofProcess(new IndexMemoryContext().durability(Durability.DISK)));
  }

  @Test
  void aDamagedJournalIsRefusedWithFileAndOffset() throws Exception {
    start(Durability.DISK);
    for (int i = 0; i < 10; i++) {
      put("", i, "value");
    }
    stop();
    try (FileChannel file =
        FileChannel.open(
            data.resolve("journal-0000000001"),
            StandardOpenOption.READ,
            StandardOpenOption.WRITE)) {
      final ByteBuffer changed = ByteBuffer.allocate(1);
      file.read(changed, 900);
      file.write(changed.put(0, (byte) ~changed.get(0)).flip(), 900);
    }
    final IOException refused = assertThrows(IOException.class, () -> start(Durability.DISK));
    assertTrue(refused.getMessage().contains("journal-0000000001"), refused.getMessage());
    assertTrue(refused.getMessage().contains("offset="), refused.getMessage());
    try (FileChannel file =
        FileChannel.open(data.resolve("checkpoint"), StandardOpenOption.WRITE)) {
      file.truncate(0); // nothing else was changed: it is the first thing that is missed now
    }
    assertThrows(IOException.class, () -> start(Durability.MEMORY));
    start(data.resolve("other"));
  }

  /** Goes on with what a loss of power would have left. */
  private void losePower() throws Exception {
    final Path copy = Files.createDirectory(data.resolve("copy"));
    try (Stream<Path> files = Files.list(data)) {
      for (final Path file : files.filter(Files::isRegularFile).toList()) {
        Files.copy(file, copy.resolve(file.getFileName()));
      }
    }
    stop();
    try (Stream<Path> files = Files.list(data)) {
      for (final Path file : files.filter(Files::isRegularFile).toList()) {
        Files.delete(file);
      }
    }
    try (Stream<Path> files = Files.list(copy)) {
      for (final Path file : files.toList()) {
        Files.move(file, data.resolve(file.getFileName()));
      }
    }
    Files.delete(copy);
    start(Durability.INTERVAL);
  }

  @Test
  void versionsGoOnBehindThoseThatWereLostHoweverOften() throws Exception {
    start(Durability.MEMORY);
    stop();
    interval = Duration.ofMinutes(1);
    start(Durability.INTERVAL);
    while (indexes.memory().journal().describe().getRecords() == 0) {
      Thread.sleep(1); // the creation of the index is synced at once, and takes along what is there
    }
    final long lost = put("", 1, "not synced yet");
    losePower();
    assertFalse(index.get(GetRequest.newBuilder().setKey(key(1)).build()).hasEntry());
    final long lostToo = put("", 1, "again");
    assertTrue(lostToo > lost);
    losePower();
    assertFalse(index.get(GetRequest.newBuilder().setKey(key(1)).build()).hasEntry());
    restart(Durability.INTERVAL); // in order, and without a record of the partition
    assertTrue(put("", 1, "once more") > lostToo);
  }

  @Test
  void anInterruptedThreadClosesTheJournalInOrder() throws Exception {
    interval = Duration.ofMinutes(1);
    start(Durability.INTERVAL);
    put("", 1, "not synced yet");
    channel.shutdownNow();
    server.shutdown();
    server.awaitTermination();
    Thread.currentThread().interrupt();
    indexes.close();
    assertTrue(Thread.interrupted());
    start(Durability.INTERVAL);
    assertEquals("not synced yet", get("", 1).getValue().toStringUtf8());
  }

  private void start(Path other) throws IOException {
    data = other;
    start(Durability.MEMORY);
  }

  @Test
  void aSmallerMemoryIsRefusedWithTheReason() throws Exception {
    start(Durability.DISK);
    for (int i = 0; i < 40; i++) {
      index.put(
          PutRequest.newBuilder()
              .setKey(key(i))
              .setValue(ByteString.copyFrom(new byte[1 << 20]))
              .build());
    }
    stop();
    final IOException refused =
        assertThrows(
            IOException.class,
            () ->
                new Indexes(
                    IndexMemory.ofProcess(
                        new IndexMemoryContext().budget(16L << 20).dataDirectory(data))));
    assertTrue(refused.getMessage().contains("--memory"), refused.getMessage());
    start(Durability.DISK);
    assertEquals(40, describe("").getEntries());
  }
}
