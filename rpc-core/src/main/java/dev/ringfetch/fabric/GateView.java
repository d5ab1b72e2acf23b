package dev.ringfetch.fabric;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/**
 * The gate as a reader sees it, through memory that it only loads. May be used from any thread.
 *
 * <p>A batch of loads costs one look: {@link GateDescriptor#WORD_OFFSET} of {@link #region()} with
 * acquire, and one {@link MemoryRegion#verify()} after all of it.
 */
public final class GateView {
  private final MemoryRegion region;

  /** Looks at a page that is mapped already: a domain's {@link RemoteDomain#GATE}. */
  public GateView(MemoryRegion page) {
    this.region = page;
  }

  /**
   * Maps the page in a file read-only.
   *
   * @throws IOException when there is none, or it is not the page of a gate.
   */
  public static GateView open(Path path) throws IOException {
    if (!Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) { // a pipe would wait
      throw new IOException("no gate: path=" + path);
    }
    try (FileChannel channel =
        FileChannel.open(path, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS))) {
      check(channel, path);
      return new GateView(
          new MappedRegion(channel.map(MapMode.READ_ONLY, 0, GateDescriptor.LENGTH)));
    } catch (FileSystemException e) {
      throw new IOException("cannot open the gate: " + e.getMessage(), e);
    }
  }

  /** Refuses a file that is not the page of a gate. */
  static void check(FileChannel channel, Path path) throws IOException {
    final ByteBuffer head =
        ByteBuffer.allocate(GateDescriptor.WORD_OFFSET + Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    while (head.hasRemaining() && channel.read(head, head.position()) >= 0) {}
    if (channel.size() != GateDescriptor.LENGTH
        || head.getLong(GateDescriptor.MAGIC_OFFSET) != GateDescriptor.MAGIC
        || head.getLong(GateDescriptor.WORD_OFFSET) == Long.MIN_VALUE) {
      throw new IOException("not the page of a gate: path=" + path + " size=" + channel.size());
    }
  }

  /** The page, for loads. */
  public MemoryRegion region() {
    return region;
  }

  /**
   * Returns whether the gate names an epoch. Memory that was taken away is closed.
   *
   * @param epoch positive.
   */
  public boolean isOpen(long epoch) {
    try {
      final long word = region.getLongAcquire(GateDescriptor.WORD_OFFSET);
      region.verify();
      return word == epoch && epoch > 0;
    } catch (InternalError e) {
      MemoryFaults.absorb(region, e);
      return false;
    }
  }
}
