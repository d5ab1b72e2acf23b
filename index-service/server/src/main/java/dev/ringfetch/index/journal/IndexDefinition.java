package dev.ringfetch.index.journal;

import com.google.protobuf.ByteString;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * What the journal keeps of an index besides its name and its number: what has to be the same in
 * each server that serves it. Little-endian, {@value #LENGTH} bytes.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------+---------------+-------------------------------+
 *  |     Kind      |  Durability   |          Partitions           |
 *  +---------------+---------------+-------------------------------+
 *  |                      4 bytes of padding                       |
 *  +---------------------------------------------------------------+
 *  |                             Seed                              |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                          Incarnation                          |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * @param kind number of the kind in the protocol: 1 HASH, 2 ORDERED
 * @param durability of its entries
 * @param partitions number of partitions, up to 65,535
 * @param seed of the hash function, by which keys belong to partitions
 * @param incarnation as answers name it
 */
public record IndexDefinition(
    int kind, Durability durability, int partitions, long seed, long incarnation) {
  /** Length in bytes. */
  public static final int LENGTH = 2 * Integer.BYTES + 2 * Long.BYTES;

  ByteString encoded() {
    final ByteBuffer buffer = ByteBuffer.allocate(LENGTH).order(ByteOrder.LITTLE_ENDIAN);
    buffer.put((byte) kind).put((byte) durability.code()).putShort((short) partitions).putInt(0);
    buffer.putLong(seed).putLong(incarnation).flip();
    return ByteString.copyFrom(buffer);
  }

  /** Reads a definition; returns null if it is none. */
  static IndexDefinition decoded(ByteString bytes) {
    if (bytes.size() != LENGTH) {
      return null;
    }
    final ByteBuffer buffer = bytes.asReadOnlyByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
    final int kind = buffer.get() & 0xFF;
    final Durability durability = Durability.ofCode(buffer.get() & 0xFF);
    final int partitions = buffer.getShort() & 0xFFFF;
    if (buffer.getInt() != 0 || durability == null || partitions == 0) {
      return null;
    }
    return new IndexDefinition(kind, durability, partitions, buffer.getLong(), buffer.getLong());
  }
}
