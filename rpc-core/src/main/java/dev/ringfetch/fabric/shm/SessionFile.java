package dev.ringfetch.fabric.shm;

import dev.ringfetch.fabric.MappedRegion;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.FileSystemException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/**
 * The file of a session's memory, or of registered memory, at its owner. It has one page of header,
 * which is never mapped, then the memory:
 *
 * <pre>
 *   0        8        16               32           4096
 *  +--------+--------+----------------+--- ... ----+--------------- ... -+
 *  |  magic | length |     nonce      |    zero    |  session's memory   |
 *  +--------+--------+----------------+--- ... ----+--------------- ... -+
 * </pre>
 *
 * <p>The owner keeps the file open after it was unlinked, so that it can give the pages back
 * without unmapping anything. Methods may be called from any thread; {@link #unlink}, {@link
 * #truncate} and {@link #close} are idempotent.
 */
final class SessionFile implements AutoCloseable {
  static final int HEADER_LENGTH = 4096;

  private static final Logger LOGGER = System.getLogger(SessionFile.class.getName());
  private static final long MAGIC = 0x3130_6d68_7366_7200L;
  private static final int CHUNK_LENGTH = 64 * 1024;

  private final Path path;
  private final FileChannel channel;
  private final MappedRegion region;
  private volatile boolean kept;

  private SessionFile(Path path, FileChannel channel, MappedRegion region) {
    this.path = path;
    this.channel = channel;
    this.region = region;
  }

  /**
   * Creates, zeroes and maps the file.
   *
   * @throws IOException when it cannot be created; nothing is left behind.
   */
  static SessionFile create(Path path, int length, Nonce nonce) throws IOException {
    return create(path, length, nonce, false);
  }

  /** Creates and maps the file; where it is sparse, it takes its pages at the first store. */
  static SessionFile create(Path path, int length, Nonce nonce, boolean sparse) throws IOException {
    FileChannel channel = null;
    boolean created = false;
    try {
      channel =
          FileChannel.open(
              path,
              Set.of(
                  StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
              Ownership.privateFile());
      fill(channel, length, nonce, sparse);
      final MappedRegion region =
          new MappedRegion(channel.map(MapMode.READ_WRITE, HEADER_LENGTH, length));
      created = true;
      return new SessionFile(path, channel, region);
    } catch (IOException e) {
      // Not the file: each attempt has another one, and would be logged as another reason.
      throw new IOException(
          "no shared memory: length="
              + length
              + " directory="
              + path.getParent()
              + ": "
              + Reason.of(e),
          e);
    } finally {
      if (!created && channel != null) {
        Cleanup.delete(path);
        Cleanup.close(channel);
      }
    }
  }

  /**
   * Writes every byte. A sparse file would take its pages at the first store instead, and on a full
   * file system that store is the death of the process.
   */
  private static void fill(FileChannel channel, int length, Nonce nonce, boolean sparse)
      throws IOException {
    final ByteBuffer chunk = ByteBuffer.allocateDirect(CHUNK_LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    chunk.putLong(MAGIC).putLong(length);
    nonce.put(chunk);
    chunk.rewind().limit(HEADER_LENGTH);
    writeFully(channel, chunk);
    chunk.clear();
    for (int i = 0; i < HEADER_LENGTH; i += Long.BYTES) {
      chunk.putLong(i, 0);
    }
    if (sparse) {
      channel.write(chunk.limit(1), (long) HEADER_LENGTH + length - 1);
      return;
    }
    for (int left = length; left > 0; ) {
      final int step = Math.min(left, CHUNK_LENGTH);
      chunk.rewind().limit(step);
      writeFully(channel, chunk);
      left -= step;
    }
  }

  private static void writeFully(FileChannel channel, ByteBuffer source) throws IOException {
    while (source.hasRemaining()) {
      channel.write(source);
    }
  }

  /** Opens the file of a peer and throws if it does not match the address. */
  static FileChannel open(Path path, SessionAddress address, Ownership ownership)
      throws IOException {
    try {
      return open(path, address.length(), address.nonce(), ownership);
    } catch (NoSuchFileException e) {
      throw new IOException("the offer is taken or withdrawn: there is no " + path, e);
    }
  }

  /**
   * Opens a file of a peer and throws if it does not have this length and nonce.
   *
   * @throws NoSuchFileException when it is not there.
   */
  static FileChannel open(Path path, int length, Nonce nonce, Ownership ownership)
      throws IOException {
    final FileChannel channel;
    try {
      ownership.checkFile(path);
      channel =
          FileChannel.open(
              path,
              Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS));
    } catch (NoSuchFileException e) {
      throw e;
    } catch (FileSystemException e) {
      // Not the file: each attempt has another one, and would be logged as another reason.
      throw new IOException("cannot open the memory on offer: " + Reason.of(e), e);
    }
    boolean verified = false;
    try {
      verify(channel, path, length, nonce);
      verified = true;
      return channel;
    } finally {
      if (!verified) {
        Cleanup.close(channel);
      }
    }
  }

  private static void verify(FileChannel channel, Path path, int length, Nonce nonce)
      throws IOException {
    final long expectedSize = (long) HEADER_LENGTH + length;
    if (channel.size() != expectedSize) {
      throw new IOException(path + ": size=" + channel.size() + " expected=" + expectedSize);
    }
    final ByteBuffer header = ByteBuffer.allocate(2 * Long.BYTES + Nonce.LENGTH);
    header.order(ByteOrder.LITTLE_ENDIAN);
    while (header.hasRemaining() && channel.read(header) >= 0) {}
    header.flip();
    if (header.limit() != header.capacity()
        || header.getLong() != MAGIC
        || header.getLong() != length
        || !Nonce.get(header).equals(nonce)) {
      throw new IOException(path + " is not the file that was offered");
    }
  }

  /** Maps a peer's file, which {@link #open} has verified. The mapping outlives the channel. */
  static MappedRegion map(FileChannel channel, int length, MapMode mode) throws IOException {
    return new MappedRegion(channel.map(mode, HEADER_LENGTH, length));
  }

  MappedRegion region() {
    return region;
  }

  /**
   * Takes the file's name away: from here on it lives as long as one of the two sides has it open
   * or mapped.
   */
  void unlink() {
    Cleanup.delete(path);
  }

  /** Leaves the pages to the last mapping, because unknown threads may use them. */
  void keep() {
    kept = true;
  }

  /**
   * Gives the pages back at once, unless they are {@linkplain #keep kept}. Only when no other
   * thread of either side uses or will use the memory.
   */
  void truncate() {
    if (kept) {
      return;
    }
    // An interrupted thread would have its channel closed instead of its request served.
    final boolean interrupted = Thread.interrupted();
    try {
      if (channel.isOpen()) {
        channel.truncate(0);
      }
    } catch (IOException e) {
      LOGGER.log(
          Level.WARNING, "cannot truncate " + path + ": its pages wait for the collector", e);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Gives up the right to truncate; the pages go with the last mapping. */
  @Override
  public void close() {
    Cleanup.close(channel);
  }
}
