package dev.ringfetch.index.data;

import dev.ringfetch.fabric.GatePage;
import dev.ringfetch.fabric.Obstacle;
import dev.ringfetch.index.disk.HostDisk;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

/**
 * The data directory of an index server: its lock, its {@link Identity} and its gate.
 *
 * <p>The owner has an incarnation of its own, later than that of every owner before. It opens its
 * memory behind the gate, moves the gate to its incarnation, has the fabric sweep what a killed
 * predecessor left, and then serves. Until the gate has moved, readers may go on to read the
 * predecessor's memory.
 *
 * <p>The directory belongs to the host, and the boot of it, on which it was served last: a gate in
 * a mapped file closes nothing for readers elsewhere.
 *
 * <p>May be used from any thread.
 */
public final class DataDirectory implements AutoCloseable {
  static final String LOCK = "lock";
  static final String IDENTITY = "identity";
  static final String GATE = "gate";
  private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
  private static final int ID_LENGTH = 16;

  /**
   * Directories that this class has locked. A POSIX lock is dropped as soon as the process closes
   * any descriptor of the file, so no lock file here is opened a second time.
   */
  private static final Set<Path> HELD = new HashSet<>();

  /** Lock files that another class loader of this process holds: closing them drops its lock. */
  private static final List<FileChannel> HELD_ELSEWHERE = new ArrayList<>();

  private final Path path;
  private final FileChannel lock;
  private final Identity identity;
  private final GatePage gate;
  private boolean closed;

  private DataDirectory(Path path, FileChannel lock, Identity identity, GatePage gate) {
    this.path = path;
    this.lock = lock;
    this.identity = identity;
    this.gate = gate;
  }

  /**
   * Opens a directory, or creates it where it is missing, and begins an incarnation.
   *
   * @param takeover whether a directory may be taken that was served last on another host or before
   *     this boot. The caller knows that no process there serves or reads it.
   * @throws IOException when another server owns the directory, it is damaged, or it needs a
   *     takeover, with the reason as its message.
   */
  public static DataDirectory open(Path path, boolean takeover) throws IOException {
    return open(path, takeover, bootId());
  }

  /** Names the boot of this host. */
  public static String bootId() throws IOException {
    return Files.readString(BOOT_ID).trim();
  }

  static DataDirectory open(Path path, boolean takeover, String boot) throws IOException {
    try {
      Files.createDirectory(
          path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      // What is answered later must not go with the directory.
      new HostDisk(path.toAbsolutePath().getParent()).syncDirectory();
    } catch (FileAlreadyExistsException e) {
      if (!Files.isDirectory(path)) {
        throw new IOException("not a directory: data=" + path, e);
      }
    } catch (NoSuchFileException e) {
      throw new IOException("the directory that is to hold it does not exist: data=" + path, e);
    }
    final Path real = path.toRealPath();
    hold(real);
    FileChannel lock = null;
    boolean opened = false;
    try {
      lock = lock(real);
      final GatePage gate = GatePage.open(real.resolve(GATE));
      final Identity identity = next(real, takeover, boot, gate);
      write(identity, real);
      opened = true;
      return new DataDirectory(real, lock, identity, gate);
    } finally {
      if (!opened) {
        release(real, lock);
      }
    }
  }

  private static void write(Identity identity, Path directory) throws IOException {
    try {
      identity.write(new HostDisk(directory), IDENTITY);
    } catch (IOException e) {
      throw new IOException(
          "cannot note in the data directory that this server has it: "
              + Obstacle.of(e)
              + "; nothing in it has changed: make room on its disk, if it is full, and start again:"
              + " data="
              + directory,
          e);
    }
  }

  /** Throws if a directory is there and has anything in it. */
  public static void checkVacant(Path path) throws IOException {
    if (Files.isDirectory(path)) {
      try (var files = Files.list(path)) {
        if (files.findAny().isPresent()) {
          throw new IOException("not empty: data=" + path);
        }
      }
    }
  }

  /** Notes that this process uses a directory; throws if it does. */
  static void hold(Path directory) throws IOException {
    synchronized (HELD) {
      if (!HELD.add(directory)) {
        throw inUse(directory);
      }
    }
  }

  /** Opens the file of the lock, which is created where it is missing. */
  static FileChannel createLock(Path directory) throws IOException {
    return FileChannel.open(
        directory.resolve(LOCK),
        Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
  }

  /** Creates a gate that was never opened. */
  static void createGate(Path directory) throws IOException {
    GatePage.open(directory.resolve(GATE)); // its mapping goes with the object
  }

  private static FileChannel lock(Path directory) throws IOException {
    final FileChannel channel = createLock(directory);
    FileLock held = null;
    boolean isElsewhere = false;
    try {
      held = channel.tryLock();
    } catch (OverlappingFileLockException e) {
      isElsewhere = true;
    } finally {
      if (isElsewhere) {
        synchronized (HELD) {
          HELD_ELSEWHERE.add(channel);
        }
      } else if (held == null) {
        channel.close();
      }
    }
    if (held == null) {
      throw inUse(directory);
    }
    return channel;
  }

  static IOException inUse(Path directory) {
    return new IOException("another server owns the directory: data=" + directory);
  }

  private static Identity next(Path directory, boolean takeover, String boot, GatePage gate)
      throws IOException {
    final Path file = directory.resolve(IDENTITY);
    if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
      if (gate.last() != 0) {
        throw new IOException("was served, but its identity is missing: file=" + file);
      }
      return new Identity(randomId(), boot, 1);
    }
    final Identity last = Identity.read(file);
    if (!last.boot().equals(boot) && !last.boot().equals(Identity.NO_BOOT) && !takeover) {
      throw new IOException(
          "was served last on another host, or before this boot: make sure that no process there"
              + " uses it, then take it over (--takeover, or takeover(true) in a"
              + " program): data="
              + directory);
    }
    return new Identity(last.id(), boot, Math.max(last.incarnation(), gate.last()) + 1);
  }

  private static String randomId() {
    final byte[] id = new byte[ID_LENGTH];
    new SecureRandom().nextBytes(id);
    return HexFormat.of().formatHex(id);
  }

  /** The directory, without links in its path. */
  public Path path() {
    return path;
  }

  /** 128 random bits that name the directory for its life, in hexadecimal. */
  public String id() {
    return identity.id();
  }

  /** The first 64 bits of the {@link #id()}. */
  public long origin() {
    return identity.origin();
  }

  /** The owner's incarnation: positive, and never another owner's. */
  public long incarnation() {
    return identity.incarnation();
  }

  /** The gate, which the owner moves to its {@link #incarnation()} before it serves. */
  public GatePage gate() {
    return gate;
  }

  /**
   * Closes the gate, if the owner has moved it, and gives the directory up. A gate that still names
   * a predecessor's incarnation stays as it is. Idempotent.
   */
  @Override
  public synchronized void close() throws IOException {
    if (closed) {
      return;
    }
    closed = true;
    if (gate.epoch() == identity.incarnation()) {
      gate.close();
    }
    release(path, lock);
  }

  @Override
  public String toString() {
    return path.toString();
  }

  static void release(Path directory, FileChannel lock) throws IOException {
    try {
      if (lock != null) {
        lock.close();
      }
    } finally {
      synchronized (HELD) {
        HELD.remove(directory);
      }
    }
  }
}
