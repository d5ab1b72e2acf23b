package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.LocalServer;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DeleteRequest;
import dev.ringfetch.index.v1.DescribeRequest;
import dev.ringfetch.index.v1.DropIndexRequest;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.SnapshotRequest;
import dev.ringfetch.index.v1.SnapshotResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Snapshots of a server with files of this host: what the next server has, and what is removed. */
@Timeout(60)
class DurableSnapshotsTest {
  @TempDir Path data;

  private Indexes indexes;
  private LocalServer server;
  private IndexGrpc.IndexBlockingStub index;
  private IndexAdminGrpc.IndexAdminBlockingStub admin;

  private void start(Durability durability, long snapshotAfter) throws IOException {
    indexes =
        new Indexes(
            IndexMemory.ofProcess(
                new IndexMemoryContext()
                    .budget(128L << 20)
                    .dataDirectory(data)
                    .durability(durability)
                    .snapshotAfter(snapshotAfter)));
    server = LocalServer.start(indexes);
    index = IndexGrpc.newBlockingStub(server.channel());
    admin = IndexAdminGrpc.newBlockingStub(server.channel());
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private void restart() throws Exception {
    stop();
    start(Durability.DISK, 1L << 30);
  }

  private static ByteString key(int number) {
    return ByteString.copyFromUtf8("key " + number);
  }

  private void put(String name, int from, int to, String value) {
    final BatchPutRequest.Builder batch = BatchPutRequest.newBuilder().setIndex(name);
    for (int i = from; i < to; i++) {
      batch.addEntriesBuilder().setKey(key(i)).setValue(ByteString.copyFromUtf8(value));
    }
    index
        .batchPut(batch.build())
        .getOutcomesList()
        .forEach(outcome -> assertEquals(0, outcome.getCode()));
  }

  private void delete(String name, int from, int to) {
    for (int i = from; i < to; i++) {
      assertTrue(
          index
              .delete(DeleteRequest.newBuilder().setIndex(name).setKey(key(i)).build())
              .getExisted());
    }
  }

  private Entry get(String name, int number) {
    return index.get(GetRequest.newBuilder().setIndex(name).setKey(key(number)).build()).getEntry();
  }

  private long count(String name) {
    return index
        .describe(DescribeRequest.newBuilder().setIndex(name).build())
        .getIndex()
        .getEntries();
  }

  private void create(String name, IndexKind kind) {
    assertTrue(
        admin
            .createIndex(CreateIndexRequest.newBuilder().setIndex(name).setKind(kind).build())
            .getCreated());
  }

  private SnapshotResponse snapshot() {
    return admin.snapshot(SnapshotRequest.getDefaultInstance());
  }

  private List<String> files(String prefix) {
    try (Stream<Path> files = Files.list(data)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.startsWith(prefix))
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void theNextServerHasTheSnapshotAndWhatCameAfter() throws Exception {
    start(Durability.DISK, 1L << 30);
    for (final IndexKind kind : new IndexKind[] {IndexKind.HASH, IndexKind.ORDERED}) {
      create(kind.name(), kind);
      put(kind.name(), 0, 3000, "first");
      delete(kind.name(), 0, 100);
    }
    create("dropped", IndexKind.HASH);
    put("dropped", 0, 10, "first");
    create("dropped later", IndexKind.HASH);
    put("dropped later", 0, 10, "first");
    admin.dropIndex(DropIndexRequest.newBuilder().setIndex("dropped").build());
    final SnapshotResponse taken = snapshot();
    assertEquals(1, taken.getNumber());
    assertEquals(List.of("snapshot-0000000001"), files("snapshot"));
    assertEquals(Files.size(data.resolve("snapshot-0000000001")), taken.getBytes());
    assertTrue(taken.getRecords() >= 5800, "records=" + taken.getRecords());
    for (final IndexKind kind : new IndexKind[] {IndexKind.HASH, IndexKind.ORDERED}) {
      put(kind.name(), 1000, 2000, "second");
      delete(kind.name(), 2900, 3000);
      put(kind.name(), 5000, 5100, "third");
    }
    admin.dropIndex(DropIndexRequest.newBuilder().setIndex("dropped later").build());
    create("after", IndexKind.ORDERED);
    put("after", 0, 5, "fourth");
    final long version = get("HASH", 1500).getVersion();
    restart();
    for (int again = 0; again < 2; again++) {
      for (final IndexKind kind : new IndexKind[] {IndexKind.HASH, IndexKind.ORDERED}) {
        assertEquals(2900, count(kind.name()));
        assertEquals("first", get(kind.name(), 999).getValue().toStringUtf8());
        assertEquals("second", get(kind.name(), 1000).getValue().toStringUtf8());
        assertEquals("third", get(kind.name(), 5050).getValue().toStringUtf8());
      }
      assertEquals(version, get("HASH", 1500).getVersion());
      assertEquals(5, count("after"));
      assertEquals(0, count("dropped"));
      assertEquals(0, count("dropped later"));
      restart();
    }
    put("HASH", 1500, 1501, "fifth");
    assertTrue(get("HASH", 1500).getVersion() > version);
  }

  @Test
  void theJournalBeforeTheOlderOfTwoSnapshotsIsRemoved() throws Exception {
    start(Durability.DISK, 1L << 30);
    final String value = "v".repeat(100_000);
    for (int i = 0; i < 40; i++) {
      put("", 10 * i, 10 * i + 10, value); // 40 MB: more than a segment
    }
    for (int i = 0; i < 3; i++) {
      snapshot();
    }
    awaitTrimmed(2);
    assertEquals(List.of("snapshot-0000000002", "snapshot-0000000003"), files("snapshot"));
    final List<String> segments = files("journal");
    assertFalse(segments.contains("journal-0000000001"), segments.toString());
    assertEquals(2, segments.size(), segments.toString());
    restart();
    assertEquals(400, count(""));
    put("", 0, 1, "later");
    restart();
    assertEquals("later", get("", 0).getValue().toStringUtf8());
  }

  private void awaitTrimmed(int snapshots) throws InterruptedException {
    while (files("snapshot").size() > snapshots) {
      TimeUnit.MILLISECONDS.sleep(5);
    }
    TimeUnit.MILLISECONDS.sleep(50);
  }

  @Test
  void enoughJournalMakesASnapshot() throws Exception {
    start(Durability.INTERVAL, 1L << 20);
    final String value = "v".repeat(10_000);
    while (files("snapshot").isEmpty()) {
      put("", 0, 50, value);
    }
    restart();
    assertEquals(50, count(""));
  }

  @Test
  void aDamagedSnapshotIsPassedOver() throws Exception {
    start(Durability.DISK, 1L << 30);
    put("", 0, 100, "value");
    snapshot();
    put("", 100, 200, "value");
    snapshot();
    stop();
    damage("snapshot-0000000002");
    start(Durability.DISK, 1L << 30);
    assertEquals(200, count(""));
    stop();
    Files.delete(data.resolve("snapshot-0000000001"));
    start(Durability.DISK, 1L << 30); // the journal is there from its begin
    assertEquals(200, count(""));
  }

  private void damage(String name) throws IOException {
    final byte[] content = Files.readAllBytes(data.resolve(name));
    content[content.length / 2] ^= 1;
    Files.write(data.resolve(name), content);
  }
}
