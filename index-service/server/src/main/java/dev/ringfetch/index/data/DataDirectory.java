package dev.ringfetch.index.data;

import dev.ringfetch.fabric.GatePage;
import dev.ringfetch.fabric.Obstacle;
import dev.ringfetch.index.disk.HostDisk;
import dev.ringfetch.index.journal.JournalCopy;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
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
 * <p>The owner has an incarnation of its own, greater than those of all former owners. It opens its
 * memory behind the gate, moves the gate to its incarnation, lets the fabric sweep the files of a
 * killed predecessor, and then serves. Until the gate has moved, readers may continue to read the
 * predecessor's memory.
 *
 * <p>The directory belongs to the host and the boot on which it was last served, as a gate in a
 * mapped file has no effect on readers elsewhere. It also belongs to its {@link Place}: a copy at
 * another place is not the directory, as the original may have been served since.
 *
 * <p>May be used from any thread.
 */
public final class DataDirectory implements AutoCloseable {
  static final String LOCK = "lock";

  /** Name of the file with the identity. */
  public static final String IDENTITY = "identity";

  static final String GATE = "gate";
  private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
  private static final int ID_LENGTH = 16;
  private static final String BY_TAKEOVER = "--takeover, or takeover(true) in a program";
  private static final String BY_COPY =
      "--adopt-copy (adoptCopy(true) in a program) at one start, which gives its indexes new"
          + " incarnations";

  /**
   * Directories locked by this class. A POSIX lock is dropped as soon as the process closes any
   * descriptor of the file, so no lock file here is opened a second time.
   */
  private static final Set<Path> HELD = new HashSet<>();

  /**
   * Lock files that another class loader of this process has locked: closing them would drop its
   * lock.
   */
  private static final List<FileChannel> HELD_ELSEWHERE = new ArrayList<>();

  private final Path path;
  private final Lock lock;
  private volatile Identity identity;
  private final GatePage gate;
  private final Path lockPath;
  private final Object gateKey;
  private final long writtenMs;
  private volatile boolean closed;

  private DataDirectory(Path path, Lock lock, Identity identity, GatePage gate) throws IOException {
    this.path = path;
    this.lock = lock;
    this.identity = identity;
    this.gate = gate;
    lockPath = path.resolve(LOCK);
    gateKey = fileKey(gate.path());
    writtenMs = newest(path);
  }

  /** When the newest file with records was written; 0: there is none. */
  private static long newest(Path path) throws IOException {
    long newest = 0;
    try (DirectoryStream<Path> files = Files.newDirectoryStream(path, "{journal,stop}-*")) {
      for (final Path file : files) {
        newest = Math.max(newest, Files.getLastModifiedTime(file).toMillis());
      }
    }
    return newest;
  }

  /**
   * The lock of this process.
   *
   * @param key of the locked file, even if its path is replaced later
   */
  record Lock(FileChannel channel, Object key) {}

  private static Object fileKey(Path file) throws IOException {
    return Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
        .fileKey();
  }

  /**
   * Opens a directory, or creates a missing one, and begins an incarnation.
   *
   * @throws IOException if another server owns the directory, if it is damaged, or if it needs
   *     another claim, with the reason as its message.
   */
  public static DataDirectory open(Path path, Claim claim) throws IOException {
    return open(path, claim, bootId());
  }

  /** The id of the present boot of this host. */
  public static String bootId() throws IOException {
    return Files.readString(BOOT_ID).trim();
  }

  static DataDirectory open(Path path, Claim claim, String boot) throws IOException {
    try {
      Files.createDirectory(
          path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      // Make the directory itself durable: later answers depend on it.
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
    Lock lock = null;
    boolean opened = false;
    try {
      checkLock(real, claim);
      lock = lock(real);
      final GatePage gate = GatePage.open(real.resolve(GATE));
      final Identity identity = next(real, claim, boot, gate);
      if (claim == Claim.COPY) { // before the identity names this place
        checkAlone(real, identity);
        JournalCopy.mark(new HostDisk(real), identity.origin());
      }
      write(identity, real);
      final DataDirectory directory = new DataDirectory(real, lock, identity, gate);
      opened = true;
      return directory;
    } finally {
      if (!opened) {
        release(real, lock == null ? null : lock.channel());
      }
    }
  }

  /** Refuses to take a node's directory for a copy, before anything in it is changed. */
  private static void checkAlone(Path directory, Identity identity) throws IOException {
    if (identity.cluster() != 0 && !Identity.isAlone(directory, identity)) {
      throw new IOException(
          String.format(
              "the data directory is a node of cluster=%016x: start it with the --cluster of that:"
                  + " data=%s",
              identity.cluster(), directory));
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

  /** Throws if a directory exists and is not empty. */
  public static void checkVacant(Path path) throws IOException {
    if (Files.isDirectory(path)) {
      try (var files = Files.list(path)) {
        if (files.findAny().isPresent()) {
          throw new IOException("not empty: data=" + path);
        }
      }
    }
  }

  /** Notes that this process uses a directory; throws if it already does. */
  static void hold(Path directory) throws IOException {
    synchronized (HELD) {
      if (!HELD.add(directory)) {
        throw inUse(directory);
      }
    }
  }

  /** Creates the lock file if it is missing. */
  static void createLock(Path directory) throws IOException {
    try {
      Files.createFile(
          directory.resolve(LOCK),
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    } catch (FileAlreadyExistsException e) {
      // The file stays open: closing a descriptor would drop its lock.
    }
  }

  /** Creates a gate that was never opened. */
  static void createGate(Path directory) throws IOException {
    GatePage.open(directory.resolve(GATE)); // the mapping ends with the object
  }

  /**
   * Locks a directory; throws if another server has locked it, or replaces the lock file meanwhile.
   */
  static Lock lock(Path directory) throws IOException {
    final Path file = directory.resolve(LOCK);
    createLock(directory);
    final Object key = fileKey(file);
    final FileChannel channel =
        FileChannel.open(file, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
    boolean isOwn = false;
    boolean isElsewhere = false;
    try {
      final FileLock held = channel.tryLock();
      isOwn = held != null && key.equals(fileKey(file));
    } catch (OverlappingFileLockException e) {
      isElsewhere = true;
    } finally {
      if (isElsewhere) {
        synchronized (HELD) {
          HELD_ELSEWHERE.add(channel);
        }
      } else if (!isOwn) {
        channel.close();
      }
    }
    if (!isOwn) {
      throw inUse(directory);
    }
    return new Lock(channel, key);
  }

  static IOException inUse(Path directory) {
    return new IOException("another server owns the directory: data=" + directory);
  }

  /**
   * Throws if the lock file was deleted, which must exist as long as the directory: a server may
   * then own the directory with a lock that is invisible to others.
   */
  private static void checkLock(Path directory, Claim claim) throws IOException {
    final Path file = directory.resolve(LOCK);
    if (claim == Claim.NONE
        && Files.exists(directory.resolve(IDENTITY), LinkOption.NOFOLLOW_LINKS)
        && !Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
      throw new IOException(
          "the lock was deleted, so another server may own the directory: make sure that none"
              + " does, then take it over ("
              + BY_TAKEOVER
              + "): file="
              + file);
    }
  }

  private static Identity next(Path directory, Claim claim, String boot, GatePage gate)
      throws IOException {
    final Path file = directory.resolve(IDENTITY);
    final Place place = Place.of(directory);
    if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
      if (gate.last() != 0) {
        throw new IOException("was served, but its identity is missing: file=" + file);
      }
      if (Files.exists(directory.resolve(Identity.COORDINATOR))) { // which comes after the identity
        throw new IOException(
            "what a backup has left that did not end: delete it: data=" + directory);
      }
      return new Identity(randomId(), boot, place, 1, 0);
    }
    final Identity last = Identity.read(HostDisk.readOnly(directory), IDENTITY);
    if (claim != Claim.COPY) {
      checkPlace(directory, last, place);
      checkMount(directory, claim, last, boot, place);
    }
    final long incarnation = Math.max(last.incarnation(), gate.last()) + 1;
    return new Identity(last.id(), boot, place, incarnation, last.cluster());
  }

  private static void checkPlace(Path directory, Identity last, Place now) throws IOException {
    if (!last.place().equals(Place.NONE) && last.place().inode() != now.inode()) {
      throw new IOException(
          "this is a copy of a data directory, which was served last as inode="
              + last.place().inode()
              + " and is inode="
              + now.inode()
              + ": serve the original, as it may have answered writes since; or serve this one in"
              + " its place with "
              + BY_COPY
              + ". A node of a cluster starts on an empty directory, and gets all from the others:"
              + " data="
              + directory);
    }
  }

  private static void checkMount(
      Path directory, Claim claim, Identity last, String boot, Place place) throws IOException {
    if (claim == Claim.TAKEOVER || last.boot().equals(Identity.NO_BOOT)) {
      return;
    }
    if (!last.boot().equals(boot)) {
      throw new IOException(
          "was served last on another host, or before this boot: make sure that no process there"
              + " uses it, then take it over ("
              + BY_TAKEOVER
              + "): data="
              + directory);
    }
    if (!last.place().equals(Place.NONE) && !last.place().equals(place)) {
      throw new IOException(
          "was served last on another device="
              + last.place().device()
              + " than device="
              + place.device()
              + ": if its file system was mounted anew, and no process uses the directory, take it"
              + " over ("
              + BY_TAKEOVER
              + "); if this is a copy, serve the original, or this one with "
              + BY_COPY
              + ": data="
              + directory);
    }
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

  /** When the directory was written before this process, in milliseconds since 1970; 0: never. */
  public long writtenMs() {
    return writtenMs;
  }

  /** The directory's id for its whole life: 128 random bits, in hexadecimal. */
  public String id() {
    return identity.id();
  }

  /** Whether its node is the only one of its cluster, or was, and moves. */
  public boolean isAlone() {
    return Identity.isAlone(path, identity);
  }

  /** The number of its node, as in any cluster. */
  public long node() {
    return identity.node();
  }

  /** The first 64 bits of the {@link #id()}. */
  public long origin() {
    return identity.origin();
  }

  /** The owner's incarnation: positive and unique. */
  public long incarnation() {
    return identity.incarnation();
  }

  /** Id of the cluster of which the directory is a node; 0 for none yet. */
  public long cluster() {
    return identity.cluster();
  }

  /**
   * Makes the directory a node of a cluster, durably and for its whole life, if it is none yet. Its
   * node takes no part in the cluster before.
   *
   * @throws IOException if it belongs to another cluster, or the disk fails, with the reason as its
   *     message
   */
  public void join(long cluster) throws IOException {
    final long before = identity.cluster();
    if (before == 0) {
      adopt(cluster);
    } else if (before != cluster) {
      throw new IOException(
          String.format(
              "the data directory is a node of cluster=%016x, and the coordinator has"
                  + " cluster=%016x: start on the coordinator of the former, whose data may have to"
                  + " be restored, or on an empty directory: data=%s",
              before, cluster, path));
    }
  }

  /**
   * As {@link #join}, though the directory may belong to another cluster, of which it is the only
   * node.
   */
  public void adopt(long cluster) throws IOException {
    checkOwned();
    final Identity joined = identity.inCluster(cluster);
    write(joined, path);
    identity = joined;
  }

  /** The gate, which the owner moves to its {@link #incarnation()} before it serves. */
  public GatePage gate() {
    return gate;
  }

  /**
   * Throws if the directory no longer belongs to this process: its lock or its gate was deleted or
   * replaced, so that another server may have started, or another server has moved the gate. A
   * starting server creates the lock before it reads anything else.
   *
   * @throws IOException with the reason as its message
   */
  public void checkOwned() throws IOException {
    if (closed) {
      return;
    }
    check(lockPath, lock.key());
    check(gate.path(), gateKey);
    if (gate.lastIfThere() > identity.incarnation()) {
      throw new IOException("another server has taken the data directory over: data=" + path);
    }
  }

  private void check(Path file, Object key) throws IOException {
    Object now = null;
    IOException obstacle = null;
    try {
      now = fileKey(file);
    } catch (IOException e) {
      obstacle = e;
    }
    if (!key.equals(now) && !closed) {
      throw new IOException(
          (now == null
                  ? "a file of the data directory is gone"
                  : "another server has replaced a file")
              + ", so the directory is this server's no more: file="
              + file
              + (obstacle == null || obstacle instanceof NoSuchFileException
                  ? ""
                  : ": " + Obstacle.of(obstacle)),
          obstacle);
    }
  }

  /**
   * Closes the gate, if the owner has moved it, and unlocks the directory. A gate that still names
   * a predecessor's incarnation is not changed. Idempotent.
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
    release(path, lock.channel());
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
