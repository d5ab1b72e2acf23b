package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DeleteRequest;
import dev.ringfetch.index.v1.DescribeServerRequest;
import dev.ringfetch.index.v1.DropIndexRequest;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.Increment;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.SnapshotRequest;
import dev.ringfetch.index.v1.TransactRequest;
import dev.ringfetch.index.v1.UpdateRequest;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** A server process whose data directory exceeds its quota. */
@Tag("slow")
@Timeout(300)
class DiskQuotaProcessTest {
  private static final int VALUE = 1_000_000;

  @TempDir Path shm;
  @TempDir Path directory;

  private IndexGrpc.IndexBlockingStub index;
  private IndexAdminGrpc.IndexAdminBlockingStub admin;

  private static ByteString key(int number) {
    return ByteString.copyFromUtf8("key" + number);
  }

  private void put(String name, int number) {
    final var unused =
        index.put(
            PutRequest.newBuilder()
                .setIndex(name)
                .setKey(key(number))
                .setValue(ByteString.copyFrom(new byte[VALUE]))
                .build());
  }

  private static void assertRefused(Executable call) {
    final Status status = assertThrows(StatusRuntimeException.class, call).getStatus();
    assertEquals(Status.Code.RESOURCE_EXHAUSTED, status.getCode(), status.toString());
    assertTrue(
        String.valueOf(status.getDescription()).contains("--disk-quota=268435456"),
        status.toString());
  }

  private long obstacleMs() {
    return admin
        .describeServer(DescribeServerRequest.getDefaultInstance())
        .getJournal()
        .getObstacleMs();
  }

  private String obstacle() {
    return admin.describeServer(DescribeServerRequest.getDefaultInstance()).getObstacle();
  }

  /** Returns the number of the first put that is refused. */
  private int putUntilRefused(String name) {
    for (int number = 0; ; number++) {
      try {
        put(name, number);
      } catch (StatusRuntimeException e) {
        assertEquals(Status.Code.RESOURCE_EXHAUSTED, e.getStatus().getCode(), e.toString());
        return number;
      }
    }
  }

  @Test
  void refusesWhatAddsEntriesUntilDropsAndDeletesHaveMadeRoom() throws Exception {
    try (ServerProcess server =
        ServerProcess.start(
            "--port=0",
            "--shm-directory=" + shm,
            "--data=" + directory.resolve("data"),
            "--durability=interval",
            "--disk-quota=256M")) {
      final ManagedChannel channel =
          ManagedChannelBuilder.forAddress("localhost", server.awaitPort()).usePlaintext().build();
      try {
        index = IndexGrpc.newBlockingStub(channel);
        admin = IndexAdminGrpc.newBlockingStub(channel);
        for (int i = 0; i < 20; i++) {
          put("kept", i);
        }
        check(putUntilRefused("large"), channel);
      } finally {
        channel.shutdownNow();
      }
    }
  }

  private void check(int last, ManagedChannel channel) throws Exception {
    assertTrue(last > 100, "puts=" + last);
    assertRefused(() -> put("large", last));
    assertTrue(obstacle().contains("--disk-quota=268435456"), this::obstacle);
    final long since = obstacleMs();
    TimeUnit.MILLISECONDS.sleep(20);
    assertTrue(obstacleMs() > since, () -> "ms=" + since);
    assertRefused(() -> put("missing", 0));
    assertRefused(
        () ->
            admin.createIndex(
                CreateIndexRequest.newBuilder()
                    .setIndex("new")
                    .setDurability(Durability.DISK)
                    .build()));
    assertRefused(
        () ->
            index.update(
                UpdateRequest.newBuilder()
                    .setIndex("kept")
                    .setKey(ByteString.copyFromUtf8("counter"))
                    .setIncrement(Increment.newBuilder().setDelta(1))
                    .build()));
    final TransactRequest.Builder transaction = TransactRequest.newBuilder().setIndex("kept");
    transaction.addThenBuilder().setKey(key(0)).getDeleteBuilder();
    final var deleted = index.transact(transaction.build());
    assertTrue(deleted.getSucceeded());
    transaction.addThenBuilder().setKey(key(1)).getPutBuilder().setValue(key(0));
    assertRefused(() -> index.transact(transaction.build()));
    assertTrue(
        admin
            .createIndex(
                CreateIndexRequest.newBuilder()
                    .setIndex("memory")
                    .setDurability(Durability.MEMORY)
                    .build())
            .getCreated());
    put("memory", 0);
    for (int i = 1; i < 20; i++) {
      assertTrue(
          index.get(GetRequest.newBuilder().setIndex("kept").setKey(key(i)).build()).hasEntry());
    }
    for (final String service : new String[] {"", IndexServer.WRITING}) {
      assertEquals(
          ServingStatus.SERVING,
          HealthGrpc.newBlockingStub(channel)
              .check(HealthCheckRequest.newBuilder().setService(service).build())
              .getStatus());
    }
    assertTrue(admin.snapshot(SnapshotRequest.getDefaultInstance()).getBytes() > 0);
    for (int i = 0; i < last / 2; i++) {
      assertTrue(
          index
              .delete(DeleteRequest.newBuilder().setIndex("large").setKey(key(i)).build())
              .getExisted());
    }
    assertTrue(
        admin.dropIndex(DropIndexRequest.newBuilder().setIndex("large").build()).getExisted());
    final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(100);
    while (!obstacle().isEmpty()) {
      assertTrue(System.nanoTime() - endNs < 0, this::obstacle);
      TimeUnit.MILLISECONDS.sleep(100);
    }
    assertEquals(0, obstacleMs());
    put("kept", 0);
  }
}
