package dev.ringfetch.index.watch;

import com.google.protobuf.ByteString;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The position of a watch in the changes of an index: for each partition, the LSN up to which the
 * watch has all changes. Immutable. Big-endian; opaque to clients:
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------+---------------+-------------------------------+
 *  |    Format     |   Padding     |          Partitions           |
 *  +---------------+---------------+-------------------------------+
 *  |                          Incarnation                          |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                 The LSNs, 64 bits a partition                ...
 *  +---------------------------------------------------------------+
 *  |                            Crc32c                             |
 *  +---------------------------------------------------------------+
 * </pre>
 */
public final class WatchToken {
  /** LSN of a partition that is not watched. */
  public static final long UNWATCHED = -1;

  private static final byte FORMAT = 1;
  private static final int PARTITIONS_OFFSET = 2;
  private static final int INCARNATION_OFFSET = PARTITIONS_OFFSET + Short.BYTES;
  private static final int LSN_OFFSET = INCARNATION_OFFSET + Long.BYTES;

  private final long incarnation;
  private final long[] lsns;

  private WatchToken(long incarnation, long[] lsns) {
    this.incarnation = incarnation;
    this.lsns = lsns;
  }

  /**
   * Encodes a token.
   *
   * @param incarnation of the index
   * @param lsns by partition
   */
  public static ByteString encode(long incarnation, long[] lsns) {
    final ByteBuffer buffer =
        ByteBuffer.allocate(LSN_OFFSET + lsns.length * Long.BYTES + Integer.BYTES);
    buffer.put(FORMAT).put((byte) 0).putShort((short) lsns.length).putLong(incarnation);
    for (final long lsn : lsns) {
      buffer.putLong(lsn);
    }
    buffer.putInt(crc(buffer.array(), buffer.position())).flip();
    return ByteString.copyFrom(buffer);
  }

  /** Decodes a token; null if it is malformed. */
  public static @Nullable WatchToken decode(ByteString token) {
    final int count = (token.size() - LSN_OFFSET - Integer.BYTES) / Long.BYTES;
    if (count < 1 || token.size() != LSN_OFFSET + count * Long.BYTES + Integer.BYTES) {
      return null;
    }
    final byte[] bytes = token.toByteArray();
    final ByteBuffer buffer = ByteBuffer.wrap(bytes);
    if (buffer.get(0) != FORMAT
        || (buffer.getShort(PARTITIONS_OFFSET) & 0xFFFF) != count
        || buffer.getInt(bytes.length - Integer.BYTES)
            != crc(bytes, bytes.length - Integer.BYTES)) {
      return null;
    }
    final long[] lsns = new long[count];
    buffer.position(LSN_OFFSET).asLongBuffer().get(lsns);
    return new WatchToken(buffer.getLong(INCARNATION_OFFSET), lsns);
  }

  private static int crc(byte[] bytes, int length) {
    final CRC32C crc = new CRC32C();
    crc.update(bytes, 0, length);
    return (int) crc.getValue();
  }

  /** Incarnation of the token's index. */
  public long incarnation() {
    return incarnation;
  }

  /** Number of the index's partitions. */
  public int partitions() {
    return lsns.length;
  }

  /** LSN of a partition, or {@link #UNWATCHED}. */
  public long lsn(int partition) {
    return lsns[partition];
  }
}
