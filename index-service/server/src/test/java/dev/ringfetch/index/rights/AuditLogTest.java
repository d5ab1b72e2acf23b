package dev.ringfetch.index.rights;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Attributes;
import io.grpc.Grpc;
import io.grpc.Status;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The lines of the audit log, and the file that they are in. */
final class AuditLogTest {
  @TempDir Path directory;

  private static Attributes caller() throws IOException {
    return Attributes.newBuilder()
        .set(
            Grpc.TRANSPORT_ATTR_REMOTE_ADDR,
            new InetSocketAddress(InetAddress.getByName("10.1.2.3"), 4711))
        .build();
  }

  private List<String> lines() throws IOException {
    return Files.readAllLines(directory.resolve("audit"));
  }

  /** Waits until the log has written so many lines. */
  private void await(int count) throws Exception {
    final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!Files.exists(directory.resolve("audit")) || lines().size() < count) {
      assertTrue(System.nanoTime() - endNs < 0, "in time");
      Thread.sleep(1);
    }
    assertEquals(count, lines().size());
  }

  @Test
  void aLineIsOneLineWhateverTheNamesHave() throws Exception {
    final Path file = directory.resolve("audit");
    final Instant before = Instant.now();
    try (AuditLog log = new AuditLog(file.toString(), Right.WRITE)) {
      log.add("ann", caller(), "ringfetch.index.v1.Index/Put", "orders", Status.Code.OK);
      log.add("", Attributes.EMPTY, "x/Watch", "a b\n\"status=OK\\\u00e9", null);
      log.add("ann", Attributes.EMPTY, "x/Put", "n".repeat(1_000_000), Status.Code.ABORTED);
    }
    final List<String> lines = lines();
    assertEquals(3, lines.size());
    final String[] parts = lines.get(0).split(" ", 2);
    assertTrue(Duration.between(before, Instant.parse(parts[0])).abs().toMinutes() < 5, parts[0]);
    assertEquals("user=ann peer=10.1.2.3:4711 method=Index/Put index=orders status=OK", parts[1]);
    assertEquals(
        "user=- peer=- method=x/Watch index=a\\u0020b\\u000a\"status=OK\\u005c\\u00e9 status=BEGUN",
        lines.get(1).split(" ", 2)[1]);
    assertTrue(lines.get(2).endsWith(" index=" + "n".repeat(255) + "... status=ABORTED"));
    assertTrue(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)).endsWith("---"));
  }

  @Test
  void theLowestRightThatIsLogged() throws Exception {
    for (final Right from : Right.values()) {
      try (AuditLog log = new AuditLog(AuditLog.LOG, from)) {
        assertEquals(from == Right.READ, log.covers(null));
        for (final Right right : Right.values()) {
          assertEquals(right.compareTo(from) >= 0, log.covers(right));
        }
      }
    }
  }

  /** As logrotate does. */
  @Test
  void linesGoToTheNewFileAfterTheOldOneWasMoved() throws Exception {
    final Path file = directory.resolve("audit");
    try (AuditLog log = new AuditLog(file.toString(), Right.READ)) {
      log.add("ann", caller(), "x/1", "", Status.Code.OK);
      log.refresh();
      log.add("ann", caller(), "x/2", "", Status.Code.OK);
      await(2);
      Files.move(file, directory.resolve("audit.1"));
      log.refresh();
      log.add("ann", caller(), "x/3", "", Status.Code.OK);
      await(1);
      assertTrue(lines().get(0).contains("method=x/3"));
    }
    try (AuditLog log = new AuditLog(file.toString(), Right.READ)) {
      log.add("ann", caller(), "x/4", "", Status.Code.OK);
    }
    assertEquals(2, lines().size(), "a start removes lines");
  }

  /** A pipe that nobody reads is a disk that stalls. */
  @Test
  void nobodyWaitsForADiskAndMissingLinesAreCounted() throws Exception {
    final Path pipe = directory.resolve("pipe");
    assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
    final int count = AuditLog.MAX_WAITING + 5_000;
    try (RandomAccessFile reader = new RandomAccessFile(pipe.toFile(), "rw");
        AuditLog log = new AuditLog(pipe.toString(), Right.READ)) {
      for (int i = 0; i < count; i++) {
        log.add("ann", caller(), "x/" + i, "", Status.Code.OK);
      }
      int read = 0;
      long missing = 0;
      while (read + missing < count) {
        final String line = reader.readLine();
        if (line.contains(" missing=")) {
          missing += Long.parseLong(line.substring(line.indexOf('=') + 1));
        } else {
          read++;
        }
      }
      assertTrue(missing > 1_000, "missing=" + missing);
    }
  }

  @Test
  void aFileThatCannotBeWrittenIsRefused() {
    assertThrows(
        IOException.class, () -> new AuditLog(directory.resolve("no/such").toString(), Right.READ));
    assertFalse(Files.exists(directory.resolve("no")));
  }
}
