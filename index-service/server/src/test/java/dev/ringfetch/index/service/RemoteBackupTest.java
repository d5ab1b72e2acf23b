package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.LocalServer;
import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.HostDisk;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexAdminGrpc.IndexAdminBlockingStub;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.ListFilesRequest;
import dev.ringfetch.index.v1.ListFilesResponse;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.ReadFileRequest;
import dev.ringfetch.index.v1.SnapshotRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Backups over a connection, and what the calls for files refuse. */
@Timeout(120)
final class RemoteBackupTest {
  private static final int ENTRIES = 3_000;

  @TempDir Path parent;

  private LocalServer start() throws IOException {
    return LocalServer.start(
        IndexMemory.ofProcess(
            new IndexMemoryContext()
                .budget(LocalServer.MEMORY)
                .durability(Durability.DISK)
                .dataDirectory(parent.resolve("data"))));
  }

  private static IndexAdminBlockingStub admin(LocalServer server) {
    return IndexAdminGrpc.newBlockingStub(server.channel());
  }

  private static void put(LocalServer server, int from, int to) {
    for (int i = from; i < to; i++) {
      IndexGrpc.newBlockingStub(server.channel())
          .put(
              PutRequest.newBuilder()
                  .setIndex("default")
                  .setKey(ByteString.copyFromUtf8("k" + i))
                  .setValue(ByteString.copyFrom(new byte[800]))
                  .build());
    }
  }

  private static void refused(
      Status.Code code, LocalServer server, ReadFileRequest.Builder request) {
    assertEquals(
        code,
        assertThrows(StatusRuntimeException.class, () -> admin(server).readFile(request.build()))
            .getStatus()
            .getCode());
  }

  @Test
  void aCopyHasWhatStandsInSnapshotAndJournal() throws IOException {
    final Path copy = parent.resolve("copy");
    try (LocalServer server = start()) {
      put(server, 0, ENTRIES); // more than one call reads
      final long number = admin(server).snapshot(SnapshotRequest.getDefaultInstance()).getNumber();
      put(server, ENTRIES, ENTRIES + 10);
      final Backup backup = Backup.of(admin(server), "of a test", copy);
      assertEquals(number, backup.snapshot());
      assertTrue(backup.bytes() > 2 * DirectoryFiles.LENGTH_LIMIT, backup::toString);
    }
    try (OfflineIndexes found = OfflineIndexes.open(copy, LocalServer.MEMORY)) {
      assertEquals(List.of(), found.faults());
      final int[] count = new int[1];
      found.walk("default", entry -> ++count[0] > 0);
      assertEquals(ENTRIES + 10, count[0]);
    }
  }

  @Test
  void filesAreReadAsTheyAre() throws IOException {
    try (LocalServer server = start()) {
      final RemoteDisk disk = new RemoteDisk(admin(server), "of a test");
      final byte[] identity = Files.readAllBytes(parent.resolve("data/identity"));
      try (var file = disk.open("identity")) {
        assertEquals(identity.length, file.length());
        final ByteBuffer read = ByteBuffer.allocate(identity.length + 1);
        assertEquals(identity.length - 3, file.read(3, read));
        assertArrayEquals(
            Arrays.copyOfRange(identity, 3, identity.length),
            Arrays.copyOf(read.array(), read.position()));
        assertEquals(0, file.read(identity.length + 7L, ByteBuffer.allocate(1)));
        assertThrows(IOException.class, () -> file.write(0, ByteBuffer.allocate(1)));
      }
      assertThrows(NoSuchFileException.class, () -> disk.open("snapshot-0000000009"));
      assertThrows(IOException.class, () -> disk.create("a"));
      assertThrows(IOException.class, () -> disk.delete("identity"));
      assertThrows(IOException.class, () -> disk.rename("identity", "b"));
    }
  }

  /** To close the file of the lock would give the directory up. */
  @Test
  void otherFilesAreNotOpened() throws IOException {
    try (LocalServer server = start()) {
      final ListFilesResponse listed =
          admin(server).listFiles(ListFilesRequest.getDefaultInstance());
      assertTrue(
          listed
              .getNamesList()
              .containsAll(List.of("checkpoint", "coordinator", "identity", "journal-0000000001")),
          listed::toString);
      assertFalse(listed.getNamesList().contains("lock"));
      assertTrue(Files.exists(parent.resolve("data/lock")));
      for (final String name : List.of("lock", "gate", "", ".", "..", "../data/identity", "a\0")) {
        refused(
            Status.Code.NOT_FOUND,
            server,
            ReadFileRequest.newBuilder().setProcess(listed.getProcess()).setName(name));
      }
      final ReadFileRequest.Builder request =
          ReadFileRequest.newBuilder().setProcess(listed.getProcess()).setName("identity");
      refused(
          Status.Code.INVALID_ARGUMENT,
          server,
          request.clone().setLength(DirectoryFiles.LENGTH_LIMIT + 1));
      refused(Status.Code.INVALID_ARGUMENT, server, request.clone().setLength(-1));
      refused(Status.Code.INVALID_ARGUMENT, server, request.clone().setPosition(-1));
      refused(Status.Code.ABORTED, server, request.clone().setProcess(1 + listed.getProcess()));
    }
    try (LocalServer server = start()) { // it had the directory until its end
      put(server, 0, 1);
    }
    try (LocalServer server = LocalServer.start()) {
      assertEquals(
          Status.Code.FAILED_PRECONDITION,
          assertThrows(
                  StatusRuntimeException.class,
                  () -> admin(server).listFiles(ListFilesRequest.getDefaultInstance()))
              .getStatus()
              .getCode());
    }
  }

  @Test
  void aServerOnWhichNothingDurableWasWrittenIsCopiedAfterItsFirstSnapshot() throws IOException {
    final Path copy = parent.resolve("copy");
    try (LocalServer server =
        LocalServer.start(
            IndexMemory.ofProcess(
                new IndexMemoryContext()
                    .budget(LocalServer.MEMORY)
                    .dataDirectory(parent.resolve("data"))))) {
      put(server, 0, 1); // in memory
      final long number = admin(server).snapshot(SnapshotRequest.getDefaultInstance()).getNumber();
      assertEquals(number, Backup.of(admin(server), "of a test", copy).snapshot());
    }
    try (OfflineIndexes found = OfflineIndexes.open(copy, LocalServer.MEMORY)) {
      assertEquals(List.of(), found.faults());
      assertTrue(found.isWhole());
    }
  }

  /** The server writes the checkpoint after the answers that wait for the same sync. */
  @Test
  void aCheckpointThatIsLateIsWaitedFor() throws IOException {
    final Path copy = parent.resolve("copy");
    final Path late = Files.createDirectory(parent.resolve("late"));
    final int[] reads = new int[1];
    try (LocalServer server = start()) {
      put(server, 0, 1);
      final Path checkpoint = parent.resolve("data/checkpoint");
      Files.copy(checkpoint, late.resolve("checkpoint"));
      put(server, 1, 10);
      final long number = admin(server).snapshot(SnapshotRequest.getDefaultInstance()).getNumber();
      final Disk disk = new RemoteDisk(admin(server), "of a test");
      final Disk lateFirst =
          (Disk)
              Proxy.newProxyInstance(
                  Disk.class.getClassLoader(),
                  new Class<?>[] {Disk.class},
                  (proxy, method, arguments) ->
                      method.getName().equals("open")
                              && arguments[0].equals("checkpoint")
                              && ++reads[0] <= 3
                          ? new HostDisk(late).open("checkpoint")
                          : method.invoke(disk, arguments));
      assertEquals(number, Backup.of(lateFirst, copy).snapshot());
    }
    assertTrue(reads[0] > 3, () -> "reads=" + reads[0]);
    try (OfflineIndexes found = OfflineIndexes.open(copy, LocalServer.MEMORY)) {
      final int[] count = new int[1];
      found.walk("default", entry -> ++count[0] > 0);
      assertEquals(10, count[0]);
    }
  }

  @Test
  void aCopyThatFailsLeavesItsTargetAsItWas() throws IOException {
    final Path absent = parent.resolve("absent");
    final Path empty = Files.createDirectory(parent.resolve("empty"));
    try (LocalServer server = start()) {
      put(server, 0, 1);
      for (final Path target : List.of(absent, empty)) {
        final IOException none =
            assertThrows(IOException.class, () -> Backup.of(admin(server), "of a test", target));
        assertTrue(none.getMessage().contains("no whole snapshot"), none::getMessage);
      }
    }
    assertTrue(Files.notExists(absent));
    assertArrayEquals(new String[0], empty.toFile().list());
  }
}
