package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.DeleteRequest;
import dev.ringfetch.index.v1.DescribeServerRequest;
import dev.ringfetch.index.v1.DescribeServerResponse;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.PutRequest;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Server processes whose disk fails: system calls that strace lets fail, and a file system that is
 * full. Needs strace, and the right to mount; says so where it has not.
 */
@Tag("slow")
@Timeout(600)
class FailingDiskTest {
  @TempDir Path shm;
  @TempDir Path directory;

  private ServerProcess server;
  private ManagedChannel channel;
  private IndexGrpc.IndexBlockingStub index;

  private void start(List<String> prefix, Path data) throws Exception {
    start(prefix, data, "--durability=disk");
  }

  private void start(List<String> prefix, Path data, String durability) throws Exception {
    server =
        ServerProcess.startUnder(
            prefix, "--port=0", "--shm-directory=" + shm, "--data=" + data, durability);
    channel =
        ManagedChannelBuilder.forAddress("localhost", server.awaitPort()).usePlaintext().build();
    index = IndexGrpc.newBlockingStub(channel);
  }

  private void kill() throws Exception {
    channel.shutdownNow();
    server.close();
    server.awaitExit();
  }

  private void terminate() throws Exception {
    channel.shutdownNow();
    server.terminate();
    server.awaitExit();
  }

  @AfterEach
  void end() throws Exception {
    if (server != null) {
      kill();
    }
  }

  private static ByteString key(int number) {
    return ByteString.copyFromUtf8("key" + number);
  }

  private void put(int number, int length) {
    final var unused =
        index.put(
            PutRequest.newBuilder()
                .setKey(key(number))
                .setValue(ByteString.copyFrom(new byte[length]))
                .build());
  }

  private boolean has(int number) {
    return index.get(GetRequest.newBuilder().setKey(key(number)).build()).hasEntry();
  }

  private static boolean runs(String... command) throws Exception {
    try {
      final Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      process.getInputStream().readAllBytes();
      return process.waitFor() == 0;
    } catch (IOException e) {
      return false;
    }
  }

  @ParameterizedTest
  @CsvSource({"fdatasync,EIO,70", "pwrite64,EIO,90", "pwrite64,EROFS,90", "pwrite64,ENOSPC,90"})
  void aFailedCallEndsWritingAndNothingElse(String call, String error, int when) throws Exception {
    assumeTrue(
        runs("strace", "-o", "/dev/null", "true"), "strace is missing, or must not trace here");
    final Path data = directory.resolve("data");
    start(
        List.of(
            "strace",
            "-f",
            "-qq",
            "-o",
            "/dev/null",
            "-e",
            "trace=" + call,
            "-e",
            "inject=" + call + ":error=" + error + ":when=" + when + "+"),
        data);
    int answered = 0;
    StatusRuntimeException failure = null;
    while (failure == null && answered < 1_000) {
      try {
        put(answered, 100);
        answered++;
      } catch (StatusRuntimeException e) {
        failure = e;
      }
    }
    assertTrue(answered > 5, "answered=" + answered + " failure=" + failure);
    // It was under way when the disk failed.
    assertEquals(Status.Code.UNKNOWN, failure.getStatus().getCode(), failure.toString());
    final StatusRuntimeException later =
        assertThrows(StatusRuntimeException.class, () -> put(1_000, 100));
    assertEquals(Status.Code.UNAVAILABLE, later.getStatus().getCode());
    assertTrue(later.getMessage().contains("takes no writes any more"), later.getMessage());
    for (int i = 0; i < answered; i++) {
      assertTrue(has(i), "key=" + i);
    }
    final DescribeServerResponse state =
        IndexAdminGrpc.newBlockingStub(channel)
            .describeServer(DescribeServerRequest.getDefaultInstance());
    assertFalse(state.getWritingEnded().isEmpty());
    assertEquals(ServingStatus.NOT_SERVING, health(IndexServer.WRITING));
    assertEquals(ServingStatus.SERVING, health(""));
    kill();
    start(List.of(), data);
    for (int i = 0; i < answered; i++) {
      assertTrue(has(i), "key=" + i + " of " + answered);
    }
    assertEquals(ServingStatus.SERVING, health(IndexServer.WRITING));
    put(1_000, 100);
  }

  private ServingStatus health(String service) {
    return HealthGrpc.newBlockingStub(channel)
        .check(HealthCheckRequest.newBuilder().setService(service).build())
        .getStatus();
  }

  @Test
  void aFullFileSystemRefusesPutsUntilThereIsRoom() throws Exception {
    final Path mounted = Files.createDirectory(directory.resolve("small"));
    assumeTrue(
        runs("mount", "-t", "tmpfs", "-o", "size=100m", "none", mounted.toString()),
        "this user must not mount");
    try {
      final Path data = mounted.resolve("data");
      start(List.of(), data);
      fill(mounted, 1);
      int answered = 0;
      StatusRuntimeException failure = null;
      while (failure == null) {
        try {
          put(answered, 100_000);
          answered++;
        } catch (StatusRuntimeException e) {
          failure = e;
        }
      }
      assertEquals(Status.Code.RESOURCE_EXHAUSTED, failure.getStatus().getCode());
      assertTrue(failure.getMessage().contains("no room"), failure.getMessage());
      assertTrue(answered > 100, "answered=" + answered);
      assertTrue(has(0));
      final var deleted = index.delete(DeleteRequest.newBuilder().setKey(key(0)).build());
      assertTrue(deleted.getExisted());
      kill();
      fillToTheLastByte(mounted);
      start(List.of(), data); // on the full disk
      assertFalse(has(0));
      for (int i = 1; i < answered; i++) {
        assertTrue(has(i), "key=" + i + " of " + answered);
      }
      Files.delete(mounted.resolve("filler1"));
      Files.delete(mounted.resolve("filler2"));
      final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
      while (true) {
        try {
          put(0, 100_000);
          break;
        } catch (StatusRuntimeException e) {
          assertEquals(Status.Code.RESOURCE_EXHAUSTED, e.getStatus().getCode());
          assertTrue(System.nanoTime() - endNs < 0, e.toString());
          TimeUnit.MILLISECONDS.sleep(50);
        }
      }
      kill();
      start(List.of(), data);
      for (int i = 0; i < answered; i++) {
        assertTrue(has(i), "key=" + i + " of " + answered);
      }
      put(answered, 100_000);
      kill();
    } finally {
      assertTrue(runs("umount", "-l", mounted.toString()));
    }
  }

  /** Its records go before it is led, and its epochs are not stored. */
  @Test
  void anIndexInMemoryIsThereAfterAStartOnAFullFileSystem() throws Exception {
    final Path mounted = Files.createDirectory(directory.resolve("small"));
    assumeTrue(
        runs("mount", "-t", "tmpfs", "-o", "size=100m", "none", mounted.toString()),
        "this user must not mount");
    try {
      final Path data = mounted.resolve("data");
      start(List.of(), data, "--durability=memory");
      put(0, 100);
      terminate();
      fillToTheLastByte(mounted);
      final long beginNs = System.nanoTime();
      start(List.of(), data);
      final long startNs = System.nanoTime() - beginNs;
      assertTrue(startNs < TimeUnit.SECONDS.toNanos(30), "ns=" + startNs);
      assertTrue(has(0));
      Files.delete(mounted.resolve("filler2"));
      put(1, 100);
      terminate();
      start(List.of(), data);
      assertTrue(has(0));
      assertTrue(has(1));
      kill();
    } finally {
      assertTrue(runs("umount", "-l", mounted.toString()));
    }
  }

  private static void fillToTheLastByte(Path mounted) throws IOException {
    try (RandomAccessFile filler =
        new RandomAccessFile(mounted.resolve("filler2").toFile(), "rw")) {
      final byte[] zeros = new byte[4096];
      while (true) {
        filler.write(zeros);
      }
    } catch (IOException e) {
      if (!e.getMessage().contains("No space left")) {
        throw e;
      }
    }
  }

  /** Takes all room but so many MiB. */
  private static void fill(Path mounted, int left) throws Exception {
    TimeUnit.SECONDS.sleep(2); // the next segment is created beside the first writes
    final long bytes = mounted.toFile().getUsableSpace() - ((long) left << 20);
    try (RandomAccessFile filler =
        new RandomAccessFile(mounted.resolve("filler1").toFile(), "rw")) {
      final byte[] zeros = new byte[1 << 20];
      for (long written = 0; written + zeros.length <= bytes; written += zeros.length) {
        filler.write(zeros);
      }
    }
  }
}
