package dev.ringfetch.fabric.shm;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.ringfetch.fabric.GateView;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.fabric.Rights;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/**
 * The record of a domain, in a file of its own: what a peer that connects needs to know, and from
 * which {@link DeadDomains} finds whether the memory of a dead process may still be read.
 *
 * <pre>
 *   0        8        16       20       24               4096
 *  +--------+--------+--------+--------+--- ... --------+
 *  |  magic | epoch  | rights |  path  | gate's path    |
 *  |        |        |        | length | (UTF-8)        |
 *  +--------+--------+--------+--------+--- ... --------+
 * </pre>
 *
 * <p>The magic number is stored last.
 *
 * @param rights of every peer.
 * @param epoch in which the memory may be read.
 * @param gate path of the gate's file, or empty where it is the domain's own.
 */
record DomainRecord(Rights rights, long epoch, String gate) {
  /** Length in bytes, after the header of the file. */
  static final int LENGTH = 4096;

  private static final long MAGIC = 0x3130_6d6f_6466_7200L;
  private static final int PATH_OFFSET = 24;

  /** Stores the record. */
  void put(MemoryRegion page) throws IOException {
    final byte[] path = gate.getBytes(UTF_8);
    if (path.length > LENGTH - PATH_OFFSET) {
      throw new IOException("the gate's path is too long: length=" + path.length);
    }
    page.putLong(8, epoch);
    page.putInt(16, rights.bits());
    page.putInt(20, path.length);
    page.putBytes(PATH_OFFSET, path, 0, path.length);
    page.putLongRelease(0, MAGIC);
  }

  /** Reads the record from its file. */
  static DomainRecord read(FileChannel channel) throws IOException {
    final ByteBuffer in = ByteBuffer.allocate(LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    while (in.hasRemaining()
        && channel.read(in, (long) SessionFile.HEADER_LENGTH + in.position()) >= 0) {}
    in.flip();
    if (in.limit() != LENGTH || in.getLong() != MAGIC) {
      throw new IOException("not the record of a domain: bytes=" + in.limit());
    }
    final long epoch = in.getLong();
    final Rights rights = rights(in.getInt());
    final int pathLength = in.getInt();
    if (pathLength < 0 || pathLength > in.remaining()) {
      throw new IOException("damaged record of a domain: pathLength=" + pathLength);
    }
    return new DomainRecord(rights, epoch, new String(in.array(), PATH_OFFSET, pathLength, UTF_8));
  }

  private static Rights rights(int bits) throws IOException {
    for (final Rights rights : Rights.values()) {
      if (rights.bits() == bits) {
        return rights;
      }
    }
    throw new IOException("damaged record of a domain: rights=" + bits);
  }

  /** Reads the record of a domain that is known by its file only. */
  static DomainRecord read(Path path) throws IOException {
    try (FileChannel channel =
        FileChannel.open(path, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS))) {
      return read(channel);
    }
  }

  /** Maps the gate's page. */
  GateView openGate(DomainAddress address, Path directory) throws IOException {
    try {
      return GateView.open(gate.isEmpty() ? address.gate(directory) : Path.of(gate));
    } catch (InvalidPathException e) {
      throw new IOException("damaged record of a domain: gate=" + gate, e);
    }
  }
}
