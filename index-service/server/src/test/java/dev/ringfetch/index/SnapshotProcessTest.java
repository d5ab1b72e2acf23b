package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.BatchPutResponse;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DeleteRequest;
import dev.ringfetch.index.v1.DescribeRequest;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Server processes that take snapshots all the time, and are killed at random while clients write:
 * the next one has every write that was answered, and the disk does not fill.
 */
@Tag("slow")
@Timeout(600)
class SnapshotProcessTest {
  private static final int KILLS = Integer.getInteger("ringfetch.kills", 4);
  private static final int KEYS = 3000;
  private static final int BATCH = 50;
  private static final long MEGABYTE = 1 << 20;
  private static final long SEGMENT = 32 * MEGABYTE;
  private static final List<IndexKind> KINDS = List.of(IndexKind.HASH, IndexKind.ORDERED);

  @TempDir Path shm;
  @TempDir Path data;

  private final Random random = new Random(Long.getLong("ringfetch.seed", 20261127));

  /** By kind and key: the number that was answered last, negative for a delete; and that sent. */
  private final long[][] answered = new long[KINDS.size()][KEYS];

  private final long[][] sent = new long[KINDS.size()][KEYS];
  private long number;
  private long answers;

  private static ByteString key(int number) {
    return ByteString.copyFromUtf8("key " + number);
  }

  private static ManagedChannel channel(int port) {
    return ManagedChannelBuilder.forAddress("localhost", port).usePlaintext().build();
  }

  @Test
  void answeredWritesSurviveAndTheDiskDoesNotFill() throws Exception {
    long newest = 0;
    for (int kill = 0; kill <= KILLS; kill++) {
      try (ServerProcess server =
          ServerProcess.start(
              "--port=0",
              "--shm-directory=" + shm,
              "--data=" + data,
              "--durability=disk",
              "--snapshot-after=1M")) {
        final ManagedChannel channel = channel(server.awaitPort());
        try {
          final IndexGrpc.IndexBlockingStub stub = IndexGrpc.newBlockingStub(channel);
          for (final IndexKind kind : KINDS) {
            IndexAdminGrpc.newBlockingStub(channel)
                .createIndex(
                    CreateIndexRequest.newBuilder().setIndex(kind.name()).setKind(kind).build());
          }
          check(stub);
          final Thread killer = killer(server);
          write(stub);
          killer.join();
        } finally {
          channel.shutdownNow();
        }
      }
      newest = Math.max(newest, newestSnapshot());
      final long snapshot = longestSnapshot();
      final long limit = 3 * snapshot + 2 * (MEGABYTE + 16 * MEGABYTE) + 3 * SEGMENT;
      assertTrue(used() <= limit, "used=" + used() + " limit=" + limit);
    }
    System.out.printf("kills=%d answers=%d snapshots=%d used=%d%n", KILLS, answers, newest, used());
    assertTrue(newest >= KILLS, "newest=" + newest);
  }

  private Thread killer(ServerProcess server) {
    final int millis = 500 + random.nextInt(1500);
    final Thread killer =
        new Thread(
            () -> {
              try {
                TimeUnit.MILLISECONDS.sleep(millis);
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
              server.close(); // SIGKILL
            });
    killer.start();
    return killer;
  }

  private void write(IndexGrpc.IndexBlockingStub stub) {
    try {
      while (true) {
        final int kind = random.nextInt(KINDS.size());
        if (random.nextInt(4) == 0) {
          delete(stub, kind, random.nextInt(KEYS));
        } else {
          put(stub, kind, random.nextInt(KEYS - BATCH));
        }
      }
    } catch (StatusRuntimeException e) {
      assertEquals(Status.Code.UNAVAILABLE, e.getStatus().getCode(), e.toString());
    }
  }

  private void delete(IndexGrpc.IndexBlockingStub stub, int kind, int key) {
    sent[kind][key] = - ++number;
    final boolean unused =
        stub.delete(
                DeleteRequest.newBuilder()
                    .setIndex(KINDS.get(kind).name())
                    .setKey(key(key))
                    .build())
            .getExisted();
    answered[kind][key] = sent[kind][key];
    answers++;
  }

  private void put(IndexGrpc.IndexBlockingStub stub, int kind, int first) {
    final BatchPutRequest.Builder batch =
        BatchPutRequest.newBuilder().setIndex(KINDS.get(kind).name());
    for (int key = first; key < first + BATCH; key++) {
      sent[kind][key] = ++number;
      batch.addEntriesBuilder().setKey(key(key)).setValue(value(number));
    }
    final BatchPutResponse response = stub.batchPut(batch.build());
    for (int i = 0; i < BATCH; i++) {
      assertEquals(0, response.getOutcomes(i).getCode());
      answered[kind][first + i] = sent[kind][first + i];
    }
    answers += BATCH;
  }

  private static ByteString value(long number) {
    return ByteString.copyFromUtf8((number + ";").repeat(40));
  }

  private void check(IndexGrpc.IndexBlockingStub stub) {
    for (int kind = 0; kind < KINDS.size(); kind++) {
      for (int key = 0; key < KEYS; key++) {
        final GetResponse found =
            stub.get(
                GetRequest.newBuilder().setIndex(KINDS.get(kind).name()).setKey(key(key)).build());
        final long last = answered[kind][key];
        final long maybe = sent[kind][key];
        final boolean asAnswered =
            last > 0
                ? found.hasEntry() && found.getEntry().getValue().equals(value(last))
                : !found.hasEntry();
        final boolean asSent =
            maybe > 0
                ? found.hasEntry() && found.getEntry().getValue().equals(value(maybe))
                : !found.hasEntry();
        assertTrue(asAnswered || asSent, "key=" + key + " answered=" + last + " sent=" + maybe);
        answered[kind][key] = asSent ? maybe : last;
        sent[kind][key] = answered[kind][key];
      }
    }
  }

  private List<Path> files(String prefix) {
    try (Stream<Path> files = Files.list(data)) {
      return files.filter(file -> file.getFileName().toString().startsWith(prefix)).toList();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static long length(Path file) {
    try {
      return Files.size(file);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private long used() {
    return files("").stream().mapToLong(SnapshotProcessTest::length).sum();
  }

  private long longestSnapshot() {
    return files("snapshot-").stream().mapToLong(SnapshotProcessTest::length).max().orElse(0);
  }

  private long newestSnapshot() {
    return files("snapshot-").stream()
        .map(file -> file.getFileName().toString())
        .filter(name -> !name.endsWith(".tmp"))
        .mapToLong(name -> Long.parseLong(name.substring("snapshot-".length())))
        .max()
        .orElse(0);
  }

  /** {@code -Dringfetch.entries=1000000} measures, and says so on the console. */
  @Test
  void whileAServerRecoversItsHealthSaysSo() throws Exception {
    final int entries = Integer.getInteger("ringfetch.entries", 300_000);
    fill(entries, false);
    start(entries, "journal alone");
    fill(0, true);
    start(entries, "snapshot");
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

  private void start(int entries, String from) throws Exception {
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
    assertTrue(recovering, "no call has met the recovery");
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
