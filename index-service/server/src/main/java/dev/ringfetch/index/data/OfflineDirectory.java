package dev.ringfetch.index.data;

import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.index.disk.HostDisk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A data directory that is locked for reading: no server can use it meanwhile, and nothing in it
 * changes. It may be on a read-only file system.
 *
 * <p>May be used from any thread.
 */
public final class OfflineDirectory implements AutoCloseable {
  private static final String DAMAGED_GATE = "damaged, or not the page of a gate: file=";

  private final Path path;
  private final FileChannel lock;
  private final @Nullable Identity identity; // null if it is damaged
  private final List<String> faults = new ArrayList<>();

  private OfflineDirectory(Path path, FileChannel lock) throws IOException {
    this.path = path;
    this.lock = lock;
    identity = readIdentity();
    checkGate();
  }

  /**
   * Locks a directory.
   *
   * @throws IOException if a server uses it, or if it is not a data directory
   */
  public static OfflineDirectory open(Path path) throws IOException {
    if (!Files.isRegularFile(path.resolve(DataDirectory.LOCK), LinkOption.NOFOLLOW_LINKS)) {
      throw new IOException("not a data directory: data=" + path);
    }
    final Path real = path.toRealPath();
    DataDirectory.hold(real);
    FileChannel lock = null;
    boolean opened = false;
    try {
      lock =
          FileChannel.open(
              real.resolve(DataDirectory.LOCK),
              Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS));
      final FileLock held = lock.tryLock(0, Long.MAX_VALUE, true);
      if (held == null) {
        throw DataDirectory.inUse(real);
      }
      final OfflineDirectory directory = new OfflineDirectory(real, lock);
      opened = true;
      return directory;
    } finally {
      if (!opened) {
        DataDirectory.release(real, lock);
      }
    }
  }

  private Identity readIdentity() {
    final Path file = path.resolve(DataDirectory.IDENTITY);
    try {
      return Identity.read(HostDisk.readOnly(path), DataDirectory.IDENTITY);
    } catch (NoSuchFileException e) {
      faults.add("missing: file=" + file);
    } catch (IOException e) {
      faults.add(e.getMessage());
    }
    return null;
  }

  private void checkGate() throws IOException {
    final Path file = path.resolve(DataDirectory.GATE);
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      faults.add("missing: file=" + file);
      return;
    }
    final ByteBuffer page =
        ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
    if (page.limit() != GateDescriptor.LENGTH) {
      faults.add(DAMAGED_GATE + file);
      return;
    }
    final long epoch = Math.abs(page.getLong(GateDescriptor.WORD_OFFSET));
    final long magic = page.getLong(GateDescriptor.MAGIC_OFFSET);
    page.putLong(GateDescriptor.WORD_OFFSET, 0).putLong(GateDescriptor.MAGIC_OFFSET, 0);
    final boolean isBlank = page.equals(ByteBuffer.allocate(GateDescriptor.LENGTH));
    if (magic != GateDescriptor.MAGIC || !isBlank) {
      faults.add(DAMAGED_GATE + file);
    } else if (identity != null && epoch != (isCopy() ? 0 : identity.incarnation())) {
      // A server that ended before it served also leaves this state.
      faults.add(
          "of another incarnation than the last: file="
              + file
              + " epoch="
              + epoch
              + " incarnation="
              + identity.incarnation());
    }
  }

  /** Whether it is a copy on which no server has started; needs the identity. */
  public boolean isCopy() {
    return identity.boot().equals(Identity.NO_BOOT);
  }

  /** The directory, without links in its path. */
  public Path path() {
    return path;
  }

  /** Lines about faults of the identity and the gate; empty if there are none. */
  public List<String> faults() {
    return List.copyOf(faults);
  }

  /** Whether there is a valid identity; no server starts without one. */
  public boolean hasIdentity() {
    return identity != null;
  }

  /** The directory's id: 128 random bits, in hexadecimal; needs the identity. */
  public String id() {
    return identity.id();
  }

  /** Whether its node is the only one of its cluster, or was, and moves. */
  public boolean isAlone() {
    return Identity.isAlone(path, identity);
  }

  /** The first 64 bits of the id; 0 without an identity. */
  public long origin() {
    return identity == null ? 0 : identity.origin();
  }

  /** Id of the cluster of which the directory is a node; 0 for none yet, or without an identity. */
  public long cluster() {
    return identity == null ? 0 : identity.cluster();
  }

  /** Incarnation of the last owner; 0 without an identity. */
  public long incarnation() {
    return identity == null ? 0 : identity.incarnation();
  }

  /** Whether this is a copy on which no server has started yet. */
  public boolean isUnservedCopy() {
    return identity != null && identity.boot().equals(Identity.NO_BOOT);
  }

  /** Unlocks the directory. */
  @Override
  public void close() throws IOException {
    DataDirectory.release(path, lock);
  }

  @Override
  public String toString() {
    return path.toString();
  }
}
