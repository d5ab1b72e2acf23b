package dev.ringfetch.index.service;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ringfetch.fabric.GatePage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * The data directory of a server: the gate that outlives the server, the lock that keeps a second
 * server out, and the id of the host's boot.
 *
 * <p>A lock of a file says nothing to another host, so a directory belongs to one boot of one host:
 * on another the operator has to say that no server uses it any more.
 */
public final class DataDirectory implements AutoCloseable {
  private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

  private final Path path;
  private final FileChannel lock;
  private final GatePage gate;

  private DataDirectory(Path path, FileChannel lock, GatePage gate) {
    this.path = path;
    this.lock = lock;
    this.gate = gate;
  }

  /**
   * Opens a directory for this process alone; creates it where it is missing.
   *
   * @param takeover whether the caller knows that no server of another host, or of this host before
   *     it started again, uses the directory.
   * @throws IOException if another server uses it, or may use it, with the reason as its message.
   */
  public static DataDirectory open(Path path, boolean takeover) throws IOException {
    return open(path, takeover, Files.readString(BOOT_ID).trim());
  }

  static DataDirectory open(Path path, boolean takeover, String bootId) throws IOException {
    Files.createDirectories(
        path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    final FileChannel lock =
        FileChannel.open(path.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    boolean opened = false;
    try {
      if (!isLocked(lock)) {
        throw new IOException("another server uses the data directory: path=" + path);
      }
      final Path boot = path.resolve("boot");
      final String last = Files.exists(boot) ? Files.readString(boot).trim() : bootId;
      if (!last.equals(bootId) && !takeover) {
        throw new IOException(
            "the data directory was used on another host, or before this one started again;"
                + " --takeover says that no server uses it there: path="
                + path);
      }
      write(boot, bootId);
      final DataDirectory directory =
          new DataDirectory(path, lock, GatePage.open(path.resolve("gate")));
      opened = true;
      return directory;
    } finally {
      if (!opened) {
        lock.close();
      }
    }
  }

  private static boolean isLocked(FileChannel channel) throws IOException {
    try {
      final FileLock lock = channel.tryLock();
      return lock != null;
    } catch (OverlappingFileLockException e) { // by this process
      return false;
    }
  }

  private static void write(Path file, String text) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            file,
            Set.of(
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE,
                StandardOpenOption.TRUNCATE_EXISTING))) {
      final ByteBuffer bytes = ByteBuffer.wrap((text + "\n").getBytes(UTF_8));
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.force(true);
    }
  }

  /** The gate, closed or naming the epoch of the last server. */
  GatePage gate() {
    return gate;
  }

  /** Closes the gate and lets another server in. Idempotent. */
  @Override
  public void close() throws IOException {
    if (lock.isOpen()) {
      gate.close();
      lock.close();
    }
  }

  @Override
  public String toString() {
    return path.toString();
  }
}
