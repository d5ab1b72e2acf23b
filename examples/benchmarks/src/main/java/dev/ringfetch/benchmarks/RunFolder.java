package dev.ringfetch.benchmarks;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The folder of a run that can be resumed: one run at a time has it, and all that is in it was
 * measured with the same settings.
 */
final class RunFolder implements AutoCloseable {
  private static final String SETTINGS = "settings";
  private static final String LOCK = "lock";

  private final Path path;
  private final FileChannel lock; // locked while it is open: two runs would measure one another

  private RunFolder(Path path, FileChannel lock) {
    this.path = path;
    this.lock = lock;
  }

  /**
   * Opens a folder, which is created if need be.
   *
   * @param content what a run leaves in it, for messages: logs, for instance.
   * @param resume whether there are such in it.
   * @param settings the settings that all of them must share, in one line.
   * @throws IllegalArgumentException if the folder does not fit, with the reason.
   */
  static RunFolder open(Path path, String content, boolean resume, String settings)
      throws IOException {
    if (Files.exists(path) && !Files.isDirectory(path)) {
      throw new IllegalArgumentException(path + " is no folder");
    }
    if (resume && !Files.exists(path.resolve(SETTINGS))) {
      throw new IllegalArgumentException(path + " has no " + content + " to go on with");
    }
    Files.createDirectories(path);
    final FileChannel lock =
        FileChannel.open(path.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    boolean opened = false;
    try {
      if (!isLocked(lock)) {
        throw new IllegalArgumentException(path + " is in use by a run that goes on");
      }
      begin(path, content, resume, settings);
      opened = true;
      return new RunFolder(path, lock);
    } finally {
      if (!opened) {
        lock.close();
      }
    }
  }

  /** Until the channel is closed, or the process has ended. */
  private static boolean isLocked(FileChannel lock) throws IOException {
    try {
      return lock.tryLock() != null;
    } catch (OverlappingFileLockException e) { // by this process
      return false;
    }
  }

  private static void begin(Path path, String content, boolean resume, String settings)
      throws IOException {
    final Path file = path.resolve(SETTINGS);
    if (!Files.exists(file)) {
      Files.writeString(file, settings + "\n");
      return;
    }
    final String before = Files.readString(file).strip();
    if (!resume) {
      throw new IllegalArgumentException(path + " has " + content + ": --resume goes on with them");
    }
    if (!before.equals(settings)) {
      throw new IllegalArgumentException(
          path + " has " + content + " with other settings: " + before + " instead of " + settings);
    }
  }

  /** The folder itself. */
  Path path() {
    return path;
  }

  /** A file in it. */
  Path resolve(String name) {
    return path.resolve(name);
  }

  /** Cuts off what a log has behind its last whole part. */
  static void truncate(Path log, long length) throws IOException {
    try (FileChannel channel = FileChannel.open(log, StandardOpenOption.WRITE)) {
      channel.truncate(length);
    }
  }

  @Override
  public void close() throws IOException {
    lock.close();
  }
}
