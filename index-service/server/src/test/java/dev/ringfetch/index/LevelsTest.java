package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.journal.Journal;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DescribeRequest;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.PutRequest;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import java.nio.file.Path;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What indexes of each level have after the orderly end and after the kill of their server. */
@Timeout(300)
final class LevelsTest {
  private static final int KEYS = 50;

  @TempDir Path shm;
  @TempDir Path parent;

  private ServerProcess server;
  private ManagedChannel channel;
  private IndexGrpc.IndexBlockingStub index;
  private IndexAdminGrpc.IndexAdminBlockingStub admin;

  private ServerProcess process() throws Exception {
    return ServerProcess.start(
        "--port=0", "--shm-directory=" + shm, "--data=" + parent.resolve("data"), "--memory=64m");
  }

  private void start() throws Exception {
    server = process();
    channel =
        ManagedChannelBuilder.forAddress("localhost", server.awaitPort()).usePlaintext().build();
    index = IndexGrpc.newBlockingStub(channel);
    admin = IndexAdminGrpc.newBlockingStub(channel);
  }

  @AfterEach
  void kill() throws Exception {
    channel.shutdownNow();
    server.close();
    server.awaitExit();
  }

  private static String name(Durability level) {
    return "at " + level;
  }

  private void create(Durability level) {
    final var created =
        admin
            .withDeadlineAfter(60, TimeUnit.SECONDS)
            .createIndex(
                CreateIndexRequest.newBuilder()
                    .setIndex(name(level))
                    .setKind(IndexKind.HASH)
                    .setDurability(level)
                    .build());
    assertTrue(created.getCreated());
  }

  private static ByteString key(int number) {
    return ByteString.copyFromUtf8("key" + number);
  }

  /** Puts entries; returns the smallest and the largest of their versions. */
  private LongSummaryStatistics put(Durability level, int from) {
    final LongSummaryStatistics versions = new LongSummaryStatistics();
    for (int i = from; i < from + KEYS; i++) {
      final PutRequest put =
          PutRequest.newBuilder().setIndex(name(level)).setKey(key(i)).setValue(key(-i)).build();
      versions.accept(index.put(put).getVersion());
    }
    return versions;
  }

  private void assertHas(Durability level, int keys) {
    for (int i = 0; i < keys; i++) {
      final GetRequest get = GetRequest.newBuilder().setIndex(name(level)).setKey(key(i)).build();
      assertEquals(key(-i), index.get(get).getEntry().getValue());
    }
  }

  @Test
  void whatWasAcknowledgedIsThereAfterAnOrderlyEndAndAfterAKill() throws Exception {
    final List<Durability> all =
        List.of(Durability.MEMORY, Durability.INTERVAL, Durability.LEADER_DISK, Durability.DISK);
    final List<Durability> durable = all.subList(1, 4);
    start();
    all.forEach(this::create);
    all.forEach(level -> put(level, 0));
    try (ServerProcess second = process()) {
      assertEquals(1, second.awaitExit());
      assertTrue(second.errors().get(0).contains("another server owns the directory"));
    }
    server.terminate();
    server.awaitExit();
    kill();

    start();
    all.forEach(level -> assertHas(level, KEYS));
    all.forEach(level -> put(level, KEYS));
    Thread.sleep(1_000); // longer than the interval and a sync
    kill();

    start();
    durable.forEach(level -> assertHas(level, 2 * KEYS));
    create(Durability.MEMORY); // it ended with its process
    put(Durability.MEMORY, 0);
    assertHas(Durability.MEMORY, KEYS);
    assertEquals(IndexKind.HASH, kind("default"));
  }

  @Test
  void aKillWithinTheIntervalGivesNoVersionToAnotherWrite() throws Exception {
    start();
    create(Durability.INTERVAL);
    put(Durability.INTERVAL, 0);
    Thread.sleep(1_000); // longer than the interval and a sync
    final long last = put(Durability.INTERVAL, KEYS).getMax();
    kill();

    start();
    assertHas(Durability.INTERVAL, KEYS);
    assertTrue(put(Durability.INTERVAL, KEYS).getMin() > last);
    kill();

    start(); // perhaps without those writes
    assertTrue(put(Durability.INTERVAL, KEYS).getMin() > last + Journal.LOST_LIMIT);
  }

  private IndexKind kind(String name) {
    final DescribeRequest request = DescribeRequest.newBuilder().setIndex(name).build();
    return index.describe(request).getIndex().getKind();
  }
}
