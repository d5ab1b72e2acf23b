package dev.ringfetch.index.service;

import dev.ringfetch.index.coordinator.CoordinatorFile;
import dev.ringfetch.index.data.DirectoryCopy;
import dev.ringfetch.index.data.OfflineDirectory;
import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.HostDisk;
import dev.ringfetch.index.journal.JournalCopy;
import dev.ringfetch.index.v1.IndexAdminGrpc.IndexAdminBlockingStub;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * The backup of a data directory that a server goes on to use: a directory on which a server starts
 * as of a moment of the backup. Its first start gives the indexes new incarnations, since the
 * original may have given out the versions that the copy goes on with.
 *
 * <p>The copy is the same data directory: only one of the two is to be served.
 *
 * @param snapshot number of the snapshot in it
 * @param bytes length of its files
 */
public record Backup(long snapshot, long bytes) {
  private static final int ATTEMPTS = 3;

  /**
   * Copies the directory of a server, which the caller has had take a snapshot. Waits for the
   * server's answers, each for up to a minute.
   *
   * @param server its name in messages
   * @param target absent, or empty
   * @throws IOException if there is no snapshot, a disk fails, or the server does not answer or
   *     ends; the target is then absent or empty, as before
   */
  public static Backup of(IndexAdminBlockingStub admin, String server, Path target)
      throws IOException {
    return of(new RemoteDisk(admin, server), target);
  }

  /** Copies a directory, as above. */
  static Backup of(Disk data, Path target) throws IOException {
    final boolean isNew = Files.notExists(target);
    final DirectoryCopy copy = DirectoryCopy.of(data, target);
    for (int attempt = 1; ; attempt++) {
      try {
        CoordinatorFile.copy(data, new HostDisk(copy.path())); // first: the journal has its groups
        final JournalCopy journal = JournalCopy.of(data, new HostDisk(copy.path()), copy.origin());
        copy.complete(data);
        return new Backup(journal.snapshot(), journal.bytes());
      } catch (NoSuchFileException e) { // the server has taken another snapshot
        if (attempt == ATTEMPTS) {
          discard(copy.path(), isNew, e);
          throw e;
        }
        clear(copy.path());
      } catch (IOException | RuntimeException e) {
        discard(copy.path(), isNew, e);
        throw e;
      }
    }
  }

  /** Leaves the target of a copy that has failed as it was before. */
  private static void discard(Path copy, boolean isNew, Exception reason) {
    try {
      clear(copy);
      if (isNew) {
        Files.delete(copy);
      }
    } catch (IOException e) {
      reason.addSuppressed(e);
    }
  }

  /**
   * Deletes a whole copy.
   *
   * @return false if it was left, as a server uses it, or has used it, or it is no copy
   * @throws IOException if the disk fails
   */
  public static boolean delete(Path copy) throws IOException {
    final OfflineDirectory opened;
    try {
      opened = OfflineDirectory.open(copy);
    } catch (IOException e) { // somebody uses it, or it is no data directory
      return false;
    }
    try (opened) { // so no server starts on it meanwhile
      final boolean isOurs = opened.isUnservedCopy();
      if (isOurs) {
        clear(copy);
        Files.delete(copy);
      }
      return isOurs;
    }
  }

  private static void clear(Path directory) throws IOException {
    try (var files = Files.list(directory)) {
      for (final Path file : files.toList()) {
        Files.delete(file);
      }
    }
  }
}
