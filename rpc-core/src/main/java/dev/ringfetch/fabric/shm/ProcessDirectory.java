package dev.ringfetch.fabric.shm;

import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;

/**
 * The directory in which one fabric of this process keeps its files, and the evidence for others
 * that the process lives: a {@link LivenessSocket} in it, and a lock beside it.
 *
 * <p>The lock file is there before the directory and goes after it, and the kernel drops the lock
 * with the process. Whatever moment a process is killed at, it leaves a lock that nobody holds,
 * from which {@link Sweep} finds everything else. The lock counts until that socket is open, where
 * none can be opened, and for processes of earlier versions: POSIX drops it as soon as anything in
 * this process, another class loader for instance, closes a descriptor of the file.
 *
 * <p>May be used from any thread. Owned by the fabric.
 */
final class ProcessDirectory implements AutoCloseable {
  static final String LOCK_SUFFIX = ".lock";

  private static final Logger LOGGER = System.getLogger(ProcessDirectory.class.getName());
  private static final Pattern NAME = Pattern.compile("[0-9]{1,10}-[0-9a-f]{16}");
  private static final int ATTEMPTS = 16;
  private static final SecureRandom RANDOM = new SecureRandom();

  /**
   * Names of lock files that this process has locked or is about to lock. A POSIX lock is dropped
   * as soon as the process closes any descriptor of the file, so a lock file named here is never
   * opened a second time.
   */
  private static final Set<String> HELD = ConcurrentHashMap.newKeySet();

  private final String name;
  private final Path path;
  private final Path lockPath;
  private final FileChannel lockChannel;
  private final LivenessSocket liveness; // null where there is none
  private final AtomicInteger sessions = new AtomicInteger();
  private final AtomicInteger bells = new AtomicInteger();
  private final AtomicInteger domains = new AtomicInteger();

  private ProcessDirectory(
      String name, Path path, Path lockPath, FileChannel lockChannel, LivenessSocket liveness) {
    this.name = name;
    this.path = path;
    this.lockPath = lockPath;
    this.lockChannel = lockChannel;
    this.liveness = liveness;
  }

  static boolean isName(String name) {
    return NAME.matcher(name).matches();
  }

  static boolean isHeldHere(String name) {
    return HELD.contains(name);
  }

  /** Refuses a root so deep that no socket fits into a directory below it. */
  static void checkPathLength(Path root) throws IOException {
    final String name = ProcessHandle.current().pid() + "-" + HexFormat.of().toHexDigits(0L);
    SessionAddress.socketAddress(SessionAddress.bellPath(root.resolve(name), 0));
  }

  /** Creates a directory below the root, and the root where it is missing. */
  static ProcessDirectory create(Path root, Ownership ownership) throws IOException {
    try {
      Files.createDirectory(root, Ownership.privateDirectory());
    } catch (FileAlreadyExistsException e) {
      // Its owner and type are checked next, whichever process created it.
    } catch (IOException e) {
      throw new IOException("no directory " + root + ": " + Reason.of(e), e);
    }
    ownership.checkDirectory(root);
    final long pid = ProcessHandle.current().pid();
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      final String name = pid + "-" + HexFormat.of().toHexDigits(RANDOM.nextLong());
      try {
        final ProcessDirectory directory = tryCreate(root, name);
        if (directory != null) {
          return directory;
        }
      } catch (IOException e) {
        // Without the name: each attempt has another one, and would be logged as another reason.
        throw new IOException("no directory in " + root + ": " + Reason.of(e), e);
      }
    }
    throw new IOException("no directory in " + root + ": attempts=" + ATTEMPTS);
  }

  /** Returns null when a sweep of another process took the lock file for a dead one's. */
  private static ProcessDirectory tryCreate(Path root, String name) throws IOException {
    final Path path = root.resolve(name);
    final Path lockPath = root.resolve(name + LOCK_SUFFIX);
    FileChannel channel = null;
    boolean created = false;
    HELD.add(name);
    try {
      channel =
          FileChannel.open(
              lockPath,
              Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
              Ownership.privateFile());
      final FileLock lock = channel.tryLock();
      // A random name is not created twice: if the name exists, it still names the file locked
      // here.
      if (lock == null || !Files.exists(lockPath, LinkOption.NOFOLLOW_LINKS)) {
        return null;
      }
      Files.createDirectory(path, Ownership.privateDirectory());
      final LivenessSocket liveness = tryOpenLiveness(path);
      created = true;
      return new ProcessDirectory(name, path, lockPath, channel, liveness);
    } finally {
      if (!created) {
        if (channel != null) {
          Cleanup.delete(lockPath);
          Cleanup.close(channel);
        }
        HELD.remove(name);
      }
    }
  }

  /** Returns null where only the lock is possible; no session can be offered there either. */
  private static LivenessSocket tryOpenLiveness(Path path) {
    try {
      return LivenessSocket.open(path);
    } catch (IOException e) {
      LOGGER.log(Level.DEBUG, "only a lock tells that this process lives: " + path, e);
      return null;
    }
  }

  String name() {
    return name;
  }

  Path path() {
    return path;
  }

  /**
   * True when the directory or its lock file was deleted while the process lives: by a cleaner of
   * old files, or by systemd, which empties a user's share of {@code /dev/shm} at logout
   * (RemoveIPC).
   */
  boolean isGone() {
    return !Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)
        || !Files.exists(lockPath, LinkOption.NOFOLLOW_LINKS);
  }

  int nextSession() {
    return sessions.getAndIncrement();
  }

  int nextBell() {
    return bells.getAndIncrement();
  }

  int nextDomain() {
    return domains.getAndIncrement();
  }

  /** Deletes everything in the directory, the directory and its lock. Idempotent. */
  @Override
  public void close() {
    if (lockChannel.isOpen()) {
      Sweep.deleteDirectory(path);
      Cleanup.close(liveness);
      Cleanup.delete(lockPath);
      Cleanup.close(lockChannel);
      HELD.remove(name);
    }
  }
}
