package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.DescribeRequest;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.SnapshotRequest;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Server processes that are killed and read their journal, or a snapshot of it, at the next start.
 */
@Tag("slow")
@Timeout(600)
class SnapshotProcessTest {
  private static final int STARTS = 20;

  @TempDir Path shm;
  @TempDir Path data;

  private static ByteString key(int number) {
    return ByteString.copyFromUtf8("key " + number);
  }

  private static ManagedChannel channel(int port) {
    return ManagedChannelBuilder.forAddress("localhost", port).usePlaintext().build();
  }

  /** {@code -Dringfetch.entries=1000000} measures, and says so on the console. */
  @Test
  void whileAServerRecoversItsHealthSaysSo() throws Exception {
    final int entries = Integer.getInteger("ringfetch.entries", 800_000);
    fill(entries, false);
    startUntilMet(entries, "journal alone");
    fill(0, true);
    startUntilMet(entries, "snapshot");
  }

  /** Starts servers until a call has met a recovery, which may be over before the call is there. */
  private void startUntilMet(int entries, String from) throws Exception {
    for (int i = 0; i < STARTS; i++) {
      if (start(entries, from)) {
        return;
      }
    }
    fail("no call has met a recovery from: " + from);
  }

  private void fill(int entries, boolean snapshot) throws Exception {
    try (ServerProcess server = serve(0)) {
      final ManagedChannel channel = channel(server.awaitPort());
      try {
        final IndexGrpc.IndexBlockingStub stub = IndexGrpc.newBlockingStub(channel);
        for (int done = 0; done < entries; done += 1000) {
          final BatchPutRequest.Builder batch = BatchPutRequest.newBuilder();
          for (int i = done; i < done + 1000; i++) {
            batch.addEntriesBuilder().setKey(key(i)).setValue(ByteString.copyFrom(new byte[100]));
          }
          assertEquals(1000, stub.batchPut(batch.build()).getOutcomesCount());
        }
        if (snapshot) {
          final long beginNs = System.nanoTime();
          final var taken =
              IndexAdminGrpc.newBlockingStub(channel)
                  .snapshot(SnapshotRequest.getDefaultInstance());
          System.out.printf(
              "snapshot: %d records, %d bytes in %d ms%n",
              taken.getRecords(), taken.getBytes(), (System.nanoTime() - beginNs) / 1_000_000);
        }
      } finally {
        channel.shutdownNow();
      }
    }
  }

  private ServerProcess serve(int port) throws IOException {
    return ServerProcess.start(
        "--port=" + port,
        "--shm-directory=" + shm,
        "--data=" + data,
        "--durability=disk",
        "--snapshot-after=4G");
  }

  /** Returns whether a call has met the recovery. */
  private boolean start(int entries, String from) throws Exception {
    final int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    final long beginNs = System.nanoTime();
    boolean recovering = false;
    boolean served = false;
    try (ServerProcess server = serve(port)) {
      while (!served) {
        final ManagedChannel channel = channel(port); // new: without the backoff of an old one
        try {
          served = isServing(channel);
          recovering |= !served && answersRecovering(channel);
          if (served) {
            final GetResponse found =
                IndexGrpc.newBlockingStub(channel)
                    .get(GetRequest.newBuilder().setKey(key(entries - 1)).build());
            assertTrue(found.hasEntry());
            System.out.printf(
                "from %s: %d ms to the first Get%n",
                from, (System.nanoTime() - beginNs) / 1_000_000);
            assertEquals(
                entries,
                IndexGrpc.newBlockingStub(channel)
                    .describe(DescribeRequest.getDefaultInstance())
                    .getIndex()
                    .getEntries());
          }
        } catch (StatusRuntimeException e) {
          assertFalse(served, e.toString());
          TimeUnit.MILLISECONDS.sleep(10); // the port is not open
        } finally {
          channel.shutdownNow();
        }
        assertTrue(server.isAlive());
      }
    }
    return recovering;
  }

  private static boolean isServing(ManagedChannel channel) {
    return HealthGrpc.newBlockingStub(channel)
            .check(HealthCheckRequest.getDefaultInstance())
            .getStatus()
        == ServingStatus.SERVING;
  }

  private static boolean answersRecovering(ManagedChannel channel) {
    try {
      return !IndexGrpc.newBlockingStub(channel)
          .get(GetRequest.newBuilder().setKey(key(0)).build())
          .hasEntry(); // it has become ready
    } catch (StatusRuntimeException e) {
      assertEquals(Status.Code.UNAVAILABLE, e.getStatus().getCode());
      return e.getStatus().getDescription().contains("recovering");
    }
  }
}
