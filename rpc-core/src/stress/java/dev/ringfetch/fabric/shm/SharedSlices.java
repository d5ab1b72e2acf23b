package dev.ringfetch.fabric.shm;

import dev.ringfetch.fabric.HeapFabric;
import dev.ringfetch.fabric.MappedRegion;
import dev.ringfetch.fabric.MemoryRegion;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A file that is mapped twice, as two processes would, and dealt out in slices: a stress test makes
 * thousands of states a second, which cannot have a file each.
 *
 * <p>A slice is used again after {@link #COUNT} others. That is more than states are alive at once:
 * {@code dev.ringfetch.stress.Stress} sets their number.
 */
public final class SharedSlices {
  /** How many slices there are. */
  public static final int COUNT = 2 * 1024;

  private static final int ALIGNMENT = 64;

  private final int stride;
  private final int length;
  private final MappedByteBuffer first;
  private final MappedByteBuffer second;
  private final byte[] zeros;
  private final AtomicInteger next = new AtomicInteger();

  /** Maps a file for slices of this length, in bytes. */
  public SharedSlices(int length) {
    this.length = length;
    this.stride = (length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    this.zeros = new byte[length];
    try {
      final Path shm = Path.of("/dev/shm");
      final Path file =
          Files.isWritable(shm)
              ? Files.createTempFile(shm, "ringfetch-stress", "")
              : Files.createTempFile("ringfetch-stress", "");
      try (FileChannel channel =
          FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        final int size = Math.multiplyExact(stride, COUNT);
        final ByteBuffer page = ByteBuffer.allocate(64 * 1024);
        for (long at = 0; at < size; ) {
          page.position(0).limit((int) Math.min(page.capacity(), size - at));
          at += channel.write(page, at);
        }
        first = channel.map(FileChannel.MapMode.READ_WRITE, 0, size);
        second = channel.map(FileChannel.MapMode.READ_WRITE, 0, size);
      } finally {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Two queue pairs over a zeroed slice: each reaches it through a mapping of its own. */
  public HeapFabric connect() {
    final int at = (next.getAndIncrement() & (COUNT - 1)) * stride;
    final MemoryRegion one = new MappedRegion(first.slice(at, length));
    one.putBytes(0, zeros, 0, length);
    return new HeapFabric(null, one, new MappedRegion(second.slice(at, length)));
  }
}
