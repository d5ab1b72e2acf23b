package dev.ringfetch.index.journal;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.v1.Appends;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.GroupState;
import dev.ringfetch.index.v1.IndexKind;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * The definition of an index in the journal, besides its name and its number: the properties that
 * are the same in each server of the index. Little-endian, {@value #LENGTH} bytes; {@value
 * #APPENDS_LENGTH} if the index takes appends.
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
 *  |             Milliseconds that a record is kept                |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                Bytes that the records may take                |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <p>Kind and durability have the numbers that they have in the protocol.
 *
 * @param kind of the index
 * @param durability of its entries
 * @param partitions number of partitions, up to 65,535
 * @param seed of the hash function, which assigns keys to partitions
 * @param incarnation as in answers
 * @param appends what an index for appends keeps; null if it is none
 */
public record IndexDefinition(
    IndexKind kind,
    Durability durability,
    int partitions,
    long seed,
    long incarnation,
    @Nullable Appends appends) {
  /** Length in bytes. */
  public static final int LENGTH = 2 * Integer.BYTES + 2 * Long.BYTES;

  /** Length in bytes if the index takes appends. */
  public static final int APPENDS_LENGTH = LENGTH + 2 * Long.BYTES;

  /** Creates the definition of an index that is not for appends. */
  public IndexDefinition(
      IndexKind kind, Durability durability, int partitions, long seed, long incarnation) {
    this(kind, durability, partitions, seed, incarnation, null);
  }

  /** The same index with another incarnation. */
  public IndexDefinition withIncarnation(long other) {
    return new IndexDefinition(kind, durability, partitions, seed, other, appends);
  }

  /** The encoded definition. */
  public ByteString encoded() {
    final ByteBuffer buffer =
        ByteBuffer.allocate(appends == null ? LENGTH : APPENDS_LENGTH)
            .order(ByteOrder.LITTLE_ENDIAN);
    buffer
        .put((byte) kind.getNumber())
        .put((byte) durability.getNumber())
        .putShort((short) partitions)
        .putInt(0);
    buffer.putLong(seed).putLong(incarnation);
    if (appends != null) {
      buffer.putLong(appends.getRetentionMs()).putLong(appends.getRetentionBytes());
    }
    return ByteString.copyFrom(buffer.flip());
  }

  /** The definition of a group's index, with its present incarnation; null if it is malformed. */
  public static @Nullable IndexDefinition of(GroupState group) {
    final IndexDefinition first = decoded(group.getDefinition());
    final long later = group.getRecovery().getIncarnation();
    return first == null || later == 0 ? first : first.withIncarnation(later);
  }

  /** Whether the members of a group write the records of its index to their disks. */
  public static boolean isOnDisk(GroupState group) {
    final IndexDefinition definition = decoded(group.getDefinition());
    return definition != null
        && switch (definition.durability) {
          case DISK, LEADER_DISK, INTERVAL -> true;
          default -> false;
        };
  }

  /** Decodes a definition; returns null if it is malformed. */
  public static @Nullable IndexDefinition decoded(ByteString bytes) {
    if (bytes.size() != LENGTH && bytes.size() != APPENDS_LENGTH) {
      return null;
    }
    final ByteBuffer buffer = bytes.asReadOnlyByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
    final IndexKind kind = IndexKind.forNumber(buffer.get());
    final Durability durability = Durability.forNumber(buffer.get());
    final int partitions = buffer.getShort() & 0xFFFF;
    if (buffer.getInt() != 0 || kind == null || durability == null || partitions == 0) {
      return null;
    }
    return new IndexDefinition(
        kind,
        durability,
        partitions,
        buffer.getLong(),
        buffer.getLong(),
        buffer.hasRemaining()
            ? Appends.newBuilder()
                .setRetentionMs(buffer.getLong())
                .setRetentionBytes(buffer.getLong())
                .build()
            : null);
  }
}
