package dev.ringfetch.index.data;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.ringfetch.index.disk.Disk;
import dev.ringfetch.index.disk.DiskFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The identity of a data directory: a file of seven lines of text, always replaced as a whole.
 *
 * <pre>
 *   ringfetch-data 1
 *   id 00112233445566778899aabbccddeeff    random, for the directory's life
 *   boot 2e1c...                           boot id of the host that owns it; none: a copy's
 *   place 0000000000000801 000000000002c0fe
 *                                          device and inode of the directory then; 0 0: a copy's
 *   incarnation 000000000000000007         of the server that owned it last
 *   cluster 0123456789abcdef               of which the directory is a node; 0: of none yet
 *   crc32c 0a1b2c3d                        of the lines before
 * </pre>
 *
 * <p>All identities have the same length, except in files of earlier versions, which lack the
 * place, the cluster, or the leading zeros of the incarnation.
 *
 * @param id 128 random bits, in hexadecimal.
 * @param boot boot id of the kernel on which the owner ran.
 * @param place of the directory when the owner had it.
 * @param incarnation of the owner, positive.
 * @param cluster id of the cluster; 0 for none.
 */
record Identity(String id, String boot, Place place, long incarnation, long cluster) {
  /** Value instead of a boot id before the first owner. */
  static final String NO_BOOT = "none";

  /** Name of the coordinator's file, which a directory has whose node is alone. */
  static final String COORDINATOR = "coordinator";

  private static final Pattern TEXT =
      Pattern.compile(
          "(ringfetch-data 1\\nid ([0-9a-f]{32})\\nboot ([0-9a-zA-Z-]{1,64})\\n"
              + "(?:place ([0-9a-f]{16}) ([0-9a-f]{16})\\n)?"
              + "incarnation (0{0,17}[1-9][0-9]{0,17})\\n"
              + "(?:cluster ([0-7][0-9a-f]{15})\\n)?)crc32c ([0-9a-f]{8})\\n");
  private static final int LENGTH_LIMIT = 4096;

  /** Reads an identity. */
  static Identity read(Disk disk, String name) throws IOException {
    final ByteBuffer bytes;
    try (DiskFile file = disk.open(name)) {
      bytes = ByteBuffer.allocate((int) Math.min(LENGTH_LIMIT, file.length()));
      file.read(0, bytes);
    }
    // Each byte is a character, so that any damage is reported as such.
    final Matcher matcher =
        TEXT.matcher(new String(bytes.array(), 0, bytes.position(), ISO_8859_1));
    if (!matcher.matches() || !checksum(matcher.group(1)).equals(matcher.group(8))) {
      throw new IOException(
          "damaged, or not the identity of a data directory: file=" + disk.describe(name));
    }
    final Place place =
        matcher.group(4) == null
            ? Place.NONE
            : new Place(number(matcher.group(4)), number(matcher.group(5)));
    return new Identity(
        matcher.group(2),
        matcher.group(3),
        place,
        Long.parseLong(matcher.group(6)),
        matcher.group(7) == null ? 0 : number(matcher.group(7)));
  }

  private static long number(String hex) {
    return Long.parseUnsignedLong(hex, 16);
  }

  /** The first 64 bits of the id. */
  long origin() {
    return Long.parseUnsignedLong(id, 0, Long.BYTES * 2, 16);
  }

  /**
   * Whether a directory's node is the only one of its cluster, or was, and moves: it has the
   * coordinator's file, or the file is gone of a cluster that has the node's number.
   *
   * @param identity null if it is damaged
   */
  static boolean isAlone(Path directory, @Nullable Identity identity) {
    return Files.isRegularFile(directory.resolve(COORDINATOR), LinkOption.NOFOLLOW_LINKS)
        || (identity != null && identity.cluster() == identity.node());
  }

  /** The number of the directory's node, as in any cluster. */
  long node() {
    return Math.max(1, origin() & Long.MAX_VALUE);
  }

  /** Same, as a node of a cluster. */
  Identity inCluster(long joined) {
    return new Identity(id, boot, place, incarnation, joined);
  }

  private static String checksum(String lines) {
    final CRC32C checksum = new CRC32C();
    checksum.update(lines.getBytes(US_ASCII));
    return HexFormat.of().toHexDigits((int) checksum.getValue());
  }

  /**
   * Replaces the identity; after a loss of power the file holds either the old or the new one.
   *
   * <p>If the disk has no room for another file, the new content overwrites the old one, if it has
   * the same length. This needs no room, and is atomic because the file is shorter than a sector.
   *
   * @throws IOException if the disk fails or has no room; no unfinished file is left then
   */
  void write(Disk disk, String name) throws IOException {
    final String lines =
        String.format(
            Locale.ROOT,
            """
            ringfetch-data 1
            id %s
            boot %s
            place %016x %016x
            incarnation %018d
            cluster %016x
            """,
            id,
            boot,
            place.device(),
            place.inode(),
            incarnation,
            cluster);
    final ByteBuffer text =
        ByteBuffer.wrap((lines + "crc32c " + checksum(lines) + "\n").getBytes(US_ASCII));
    disk.delete(name + Disk.UNFINISHED); // first: if that fails, nothing is overwritten
    try {
      disk.replace(name, text.duplicate());
    } catch (IOException e) {
      if (!overwrite(disk, name, text, e)) {
        throw e;
      }
      disk.syncDirectory(); // the rename may be done
    }
  }

  /**
   * Overwrites a file of the same length; returns false if there is none, or if that fails, too.
   */
  private static boolean overwrite(Disk disk, String name, ByteBuffer text, IOException before) {
    try (DiskFile file = disk.open(name)) {
      if (file.length() != text.limit()) {
        return false;
      }
      file.write(0, text);
      file.sync();
      return true;
    } catch (IOException e) {
      before.addSuppressed(e);
      return false;
    }
  }
}
