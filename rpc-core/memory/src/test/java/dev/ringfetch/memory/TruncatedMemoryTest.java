package dev.ringfetch.memory;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.MappedRegion;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/**
 * Memory that another process of the user truncates: neither the owner nor a client takes the rest
 * for values, and no error of it comes up later, in other code.
 */
@Timeout(60)
class TruncatedMemoryTest {
  private static final int HEADER_LENGTH = 4096;

  @TempDir private Path directory;
  private MemoryHarness harness;
  private OwnedValue<Words> value;
  private Broadcast<Words> broadcast;

  @BeforeEach
  void start() throws IOException {
    harness = MemoryHarness.rings(directory, "shm");
    harness.start();
    value = harness.regions.value("ibm", Words.CODEC, 64);
    broadcast = harness.regions.broadcast("trades", Words.CODEC, 1 << 12);
    value.set(new Words(7, 3));
  }

  @AfterEach
  void end() throws Exception {
    harness.end();
  }

  /** Truncates the files of a length. */
  private void truncate(int memoryLength) throws IOException {
    final List<Path> files;
    try (Stream<Path> all = Files.walk(directory)) {
      files =
          all.filter(file -> file.toFile().length() == HEADER_LENGTH + (long) memoryLength)
              .filter(Files::isRegularFile)
              .toList();
    }
    assertEquals(1, files.size(), files::toString);
    try (FileChannel file = FileChannel.open(files.get(0), StandardOpenOption.WRITE)) {
      file.truncate(0);
    }
  }

  private static void assertTruncated(Executable read, String name) {
    final StatusRuntimeException thrown = assertThrows(StatusRuntimeException.class, read);
    assertEquals(Status.Code.DATA_LOSS, thrown.getStatus().getCode());
    assertEquals(
        "another process has truncated the memory: name=" + name,
        thrown.getStatus().getDescription());
  }

  /** The region's own memory is sound: what it throws is pending from elsewhere. */
  private void assertNothingPending() throws IOException {
    final Path file = Files.createTempFile(directory, "sound", "");
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.allocate(8));
    }
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      final MappedRegion sound =
          new MappedRegion(channel.map(FileChannel.MapMode.READ_ONLY, 0, Long.BYTES));
      assertDoesNotThrow(sound::verify);
    }
  }

  @Test
  void valuesAreRefusedWithTheReason() throws IOException {
    final RemoteValue<Words> remote = harness.connect().value("ibm", Words.CODEC);
    assertEquals(new Words(7, 3), remote.get().value());
    assertEquals(1, remote.directReads());
    truncate(ValueDescriptor.memoryLength(64));
    for (int i = 0; i < 100; i++) {
      assertTruncated(remote::get, "ibm");
      assertNothingPending();
    }
    assertEquals(1, remote.directReads());
    assertTruncated(() -> remote.awaitAfter(1, Duration.ofSeconds(10)), "ibm");
    assertNothingPending();
    assertTrue(remote.obstacle().isPresent());
  }

  @Test
  void waitsEnd() throws IOException {
    final RemoteValue<Words> remote = harness.connect().value("ibm", Words.CODEC);
    final long version = remote.get().version();
    truncate(ValueDescriptor.memoryLength(64));
    assertTruncated(() -> remote.awaitAfter(version, Duration.ofSeconds(10)), "ibm");
    assertNothingPending();
  }

  @Test
  void messagesAreRefusedWithTheReason() throws IOException {
    final BroadcastReader<Words> reader =
        harness.connect().broadcast("trades", Words.CODEC).fromLatest();
    broadcast.publish(new Words(1, 1));
    assertEquals(1, reader.poll(trade -> assertEquals(new Words(1, 1), trade)));
    broadcast.publish(new Words(2, 1));
    truncate(BroadcastDescriptor.memoryLength(1 << 12));
    for (int i = 0; i < 100; i++) {
      assertTruncated(() -> reader.poll(trade -> {}), "trades");
      assertNothingPending();
    }
    assertEquals(1, reader.directReads());
  }

  /** Its name is gone, and the owner still has it open. */
  @Test
  void truncatedAdmissionEnds() throws IOException {
    final RemoteValue<Words> remote = harness.connect().value("ibm", Words.CODEC);
    assertEquals(new Words(7, 3), remote.get().value());
    int truncated = 0;
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      for (final Path descriptor : open.toList()) {
        if (Files.isSymbolicLink(descriptor)) {
          final String target = Files.readSymbolicLink(descriptor).toString();
          if (target.startsWith(directory.toString()) && target.contains("admission")) {
            try (FileChannel file = FileChannel.open(descriptor, StandardOpenOption.WRITE)) {
              file.truncate(0);
              truncated++;
            }
          }
        }
      }
    }
    assertEquals(1, truncated);
    for (int i = 0; i < 100; i++) {
      assertEquals(new Words(7, 3), remote.get().value());
      assertNothingPending();
    }
  }

  /** The look at the grant may be the one that meets a page which is gone. */
  @Test
  void grantIsLookedAtBeforeTheCheck() {
    final boolean[] isPending = new boolean[1];
    final DirectRegion memory =
        new DirectRegion(64) {
          @Override
          public void verify() {
            if (isPending[0]) {
              isPending[0] = false;
              throw new InternalError("a page is gone");
            }
          }
        };
    final MappedReads reads = new MappedReads(memory, () -> isPending[0] = true);
    assertThrows(InternalError.class, reads::verify);
  }
}
