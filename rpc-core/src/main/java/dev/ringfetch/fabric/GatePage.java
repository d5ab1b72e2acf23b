package dev.ringfetch.fabric;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.FileSystemException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * The gate at its owner: one word, in a page of its own, that names the one epoch in which memory
 * may be used. It only moves forward, which closes every earlier epoch at all readers at once,
 * whether or not their memory is that of a process that still lives. Laid out by {@link
 * GateDescriptor}.
 *
 * <p>One process owns a gate at a time; its caller sees to that, with a lock beside the file for
 * instance. Methods may be called from any thread.
 */
public final class GatePage implements AutoCloseable {
  private final MemoryRegion region;
  private final Path path; // null: not a file

  private GatePage(MemoryRegion region, Path path) {
    this.region = region;
    this.path = path;
  }

  /** A gate in zeroed memory of a fabric that peers reach without a file. */
  public static GatePage in(MemoryRegion page) {
    page.putLongRelease(GateDescriptor.MAGIC_OFFSET, GateDescriptor.MAGIC);
    return new GatePage(page, null);
  }

  /**
   * Maps the page in a file, which is created where it is missing. Never unlinks or truncates the
   * file, since readers of earlier epochs have it mapped.
   *
   * @throws IOException when the file cannot be created or is not the page of a gate.
   */
  public static GatePage open(Path path) throws IOException {
    final Path absolute = path.toAbsolutePath();
    try (FileChannel channel =
        FileChannel.open(
            absolute,
            Set.of(
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE,
                LinkOption.NOFOLLOW_LINKS),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
      if (channel.size() == 0) {
        initialize(channel, absolute);
      }
      GateView.check(channel, absolute);
      return new GatePage(
          new MappedRegion(channel.map(MapMode.READ_WRITE, 0, GateDescriptor.LENGTH)), absolute);
    } catch (FileSystemException e) {
      throw new IOException("cannot open the gate: " + e.getMessage(), e);
    }
  }

  /** Writes the whole page: no later store through the mapping lacks its block. */
  private static void initialize(FileChannel channel, Path path) throws IOException {
    final ByteBuffer page =
        ByteBuffer.allocate(GateDescriptor.LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    page.putLong(GateDescriptor.MAGIC_OFFSET, GateDescriptor.MAGIC);
    try {
      while (page.hasRemaining()) {
        channel.write(page);
      }
      channel.force(true);
    } catch (IOException e) { // the disk is full, for example
      channel.truncate(0); // else the next server takes a part of it for damage
      throw new IOException("cannot create the gate: " + e.getMessage() + ": file=" + path, e);
    }
  }

  /** The page. Only this class stores to it. */
  public MemoryRegion region() {
    return region;
  }

  /** The page's file, or null where it has none. */
  public Path path() {
    return path;
  }

  /** The epoch that the gate names, or 0 when it is closed. */
  public long epoch() {
    return Math.max(0, word());
  }

  private long word() {
    return region.getLongAcquire(GateDescriptor.WORD_OFFSET);
  }

  /**
   * Moves the gate forward: no load of the word that follows in any process returns an earlier
   * epoch.
   *
   * @throws IllegalArgumentException unless the epoch is positive and later than every epoch that
   *     the gate has named.
   */
  public synchronized void move(long epoch) {
    final long last = last();
    if (epoch <= last) {
      throw new IllegalArgumentException("not forward: epoch=" + epoch + " last=" + last);
    }
    store(epoch);
  }

  /** The last epoch that the gate has named, or 0; it may be closed by now. */
  public long last() {
    return Math.abs(word());
  }

  /** As {@link #last}; 0 if another process has truncated the file, whose fault ends here. */
  public long lastIfThere() {
    try {
      final long last = last();
      region.verify();
      return last;
    } catch (InternalError e) {
      MemoryFaults.absorb(region, e);
      return 0;
    }
  }

  /** Closes the gate, at an orderly stop. A later epoch opens it again. Idempotent. */
  @Override
  public synchronized void close() {
    try {
      store(-last());
      region.verify();
    } catch (InternalError e) { // another process has truncated the file: nobody passes the gate
      MemoryFaults.absorb(region, e);
    }
  }

  private void store(long word) {
    region.putLongRelease(GateDescriptor.WORD_OFFSET, word);
    region.fullFence();
  }

  @Override
  public String toString() {
    return "GatePage[epoch=" + epoch() + " path=" + path + "]";
  }
}
