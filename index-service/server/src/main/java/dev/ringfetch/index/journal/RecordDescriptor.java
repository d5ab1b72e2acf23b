package dev.ringfetch.index.journal;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.BoxDescriptor;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * Layout of a record: one change of one partition. It is the same in a journal, in a snapshot, and
 * in messages to other nodes. Little-endian.
 *
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +---------------------------------------------------------------+
 *  |                            Crc32c                             |
 *  +---------------------------------------------------------------+
 *  |                            Length                             |
 *  +---------------+---------------+-------------------------------+
 *  |     Type      |     Flags     |          Key length           |
 *  +---------------+---------------+-------------------------------+
 *  |                           Partition                           |
 *  +---------------------------------------------------------------+
 *  |                             Index                             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                             Epoch                             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                              Lsn                              |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                            Client                             |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                            Request                            |
 *  |                                                               |
 *  +---------------------------------------------------------------+
 *  |                              Key                             ...
 *  +---------------------------------------------------------------+
 *  |                             Value                            ...
 *  +---------------------------------------------------------------+
 *  |                     The former box, 256 bits                 ...
 *  +---------------------------------------------------------------+
 *  |                    The deadline, 64 bits                     ...
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <ul>
 *   <li><b>Crc32c</b>: of all that follows, so also of partition, epoch and LSN. In a batch it is
 *       salted with the place, see {@link #salt}. So neither bytes of a value nor a record that was
 *       written elsewhere are mistaken for a record.
 *   <li><b>Length</b>: of the record in bytes, without the zeros behind it that fill it up to a
 *       multiple of {@value #ALIGNMENT}.
 *   <li><b>Type</b>: see the constants.
 *   <li><b>Flags</b>: {@link #POSITIVE}, {@link #DEADLINE}, {@link #EXPIRED}, {@link #FORMER}.
 *       Others are 0.
 *   <li><b>Key length</b>: in bytes. The value has the rest of the record, up to the former box.
 *   <li><b>Partition, Index</b>: the partition that the record belongs to, and the number of its
 *       index, which no other index of the directory has or had.
 *   <li><b>Epoch</b>: of the server that wrote the record.
 *   <li><b>Lsn</b>: log sequence number; in a partition each record has a larger one than those
 *       before.
 *   <li><b>Client, Request</b>: number of a client and of its request, from which the record comes;
 *       0 if the client has none. The lower 48 bits are the request's number; the upper ones are
 *       its distance from the client's first incomplete request at that time.
 *   <li><b>Former box</b>: only with {@link #FORMER}: that of the entry that the change of a
 *       spatial index replaced or removed, see {@link BoxDescriptor}.
 *   <li><b>Deadline</b>: only with {@link #DEADLINE}: the last 8 bytes. Milliseconds since 1970, of
 *       the partition's clock; from then on the entry is absent.
 * </ul>
 */
public final class RecordDescriptor {
  /** Offset of the checksum, 32 bits. */
  public static final int CRC_OFFSET = 0;

  /** Offset of the length, 32 bits. */
  public static final int LENGTH_OFFSET = CRC_OFFSET + Integer.BYTES;

  /** Offset of the type, 8 bits. */
  public static final int TYPE_OFFSET = LENGTH_OFFSET + Integer.BYTES;

  /** Offset of the flags, 8 bits. */
  public static final int FLAGS_OFFSET = TYPE_OFFSET + 1;

  /** Offset of the key's length, 16 bits. */
  public static final int KEY_LENGTH_OFFSET = FLAGS_OFFSET + 1;

  /** Offset of the partition, 32 bits. */
  public static final int PARTITION_OFFSET = KEY_LENGTH_OFFSET + Short.BYTES;

  /** Offset of the index's number, 64 bits. */
  public static final int INDEX_OFFSET = PARTITION_OFFSET + Integer.BYTES;

  /** Offset of the epoch, 64 bits. */
  public static final int EPOCH_OFFSET = INDEX_OFFSET + Long.BYTES;

  /** Offset of the LSN, 64 bits. */
  public static final int LSN_OFFSET = EPOCH_OFFSET + Long.BYTES;

  /** Offset of the client's number, 64 bits. */
  public static final int CLIENT_OFFSET = LSN_OFFSET + Long.BYTES;

  /** Offset of the request's number, 64 bits. */
  public static final int REQUEST_OFFSET = CLIENT_OFFSET + Long.BYTES;

  /** Offset of the key; the length of a record without key and value. */
  public static final int KEY_OFFSET = REQUEST_OFFSET + Long.BYTES;

  /** Records begin at multiples of this number of bytes. */
  public static final int ALIGNMENT = 8;

  /** Type: an entry was written. */
  public static final int PUT = 1;

  /** Type: the entry of the key was removed. */
  public static final int DELETE = 2;

  /**
   * Type: the outcome of a client's request without a change of its own: a failed comparison, the
   * delete of an absent entry, the end of a range's removal. The value is an {@link
   * OutcomeDescriptor}. In a snapshot and in a {@link #TRANSACTION} it may be any outcome.
   */
  public static final int OUTCOME = 3;

  /**
   * Type: the clock of a partition was advanced. The value is its time, encoded like a deadline.
   */
  public static final int TICK = 4;

  /**
   * Type: a partition of a group goes on behind this LSN: the {@link Journal#LOST_LIMIT} LSNs
   * before it may have been given to records that are lost.
   */
  public static final int GAP = 5;

  /**
   * Type: several changes of one write, which count together. The value consists of their records,
   * each aligned: {@link #PUT} and {@link #DELETE} with the same index, partition and LSN; and last
   * its {@link #OUTCOME} if it has a number.
   */
  public static final int TRANSACTION = 6;

  /**
   * Type, in the journal alone: the node begins with the group anew, in this epoch, and its former
   * records of the group are void. The value is the group's state. Records of a snapshot follow,
   * whose epoch is 0, up to the next {@link #GROUP_EPOCH}.
   */
  public static final int GROUP_BEGIN = 8;

  /**
   * Type, in the journal alone: the node obeys this epoch of the group from now on. The value is
   * the position at which the group's log ends here: the node discards records after it, and the
   * next record of the log follows there.
   */
  public static final int GROUP_EPOCH = 9;

  /** Type, in the journal alone: all records up to the value, a position, are committed. */
  public static final int GROUP_COMMIT = 10;

  /** Type, in the journal alone: the group was dropped. */
  public static final int GROUP_END = 11;

  /**
   * Type, in the journal and its snapshots alone: a snapshot has all records of the group before
   * this one. The value is a unique number, which the same record in the snapshot has, too.
   */
  public static final int GROUP_MARK = 12;

  /**
   * Type, in the snapshots that orderly ends leave: the process had no more of the group. The value
   * is a configuration whose members are processes of the node: the one that ended is the last, and
   * may stand for earlier ones before it, with whose records it went on, as long as no
   * configuration was established since.
   */
  public static final int GROUP_STOP = 13;

  /**
   * Type, in formats 2 and 3 alone: an index was created: the key is its name, the value an {@link
   * IndexDefinition}.
   */
  public static final int CREATE_INDEX = 16;

  /** Type, in formats 2 and 3 alone: the index was dropped. */
  public static final int DROP_INDEX = 17;

  /** Type: a client with this number was opened. The request is its first incomplete one. */
  public static final int OPEN_CLIENT = 19;

  /** Type: the client with this number was closed, and its outcomes are gone. */
  public static final int CLOSE_CLIENT = 20;

  /**
   * Type, in snapshots alone: a partition of an index. The snapshot has all records up to the LSN;
   * the value is the partition's clock, encoded like a deadline.
   */
  public static final int PARTITION = 32;

  /** Type: the last record of a snapshot; a file without it is not a snapshot. */
  public static final int SNAPSHOT_END = 33;

  /** Flag: the answer was positive: a put created the entry, or a delete found it. */
  public static final int POSITIVE = 1;

  /** Flag: a deadline ends the record. */
  public static final int DEADLINE = 2;

  /** Flag: the entry was removed because it had expired. */
  public static final int EXPIRED = 4;

  /** Flag: the value is followed by the former box. */
  public static final int FORMER = 8;

  /** The longest key: that of entries; names of indexes are shorter. */
  public static final int KEY_LIMIT = 1024;

  /** All flags. */
  private static final int FLAGS = POSITIVE | DEADLINE | EXPIRED | FORMER;

  /**
   * The last type of formats 2 and 3 about a whole server, of whose records a salvage takes some.
   */
  private static final int LAST_OF_SERVER = 21;

  /** All types, each the bit of its number. */
  private static final long TYPES =
      range(PUT, TRANSACTION)
          | range(GROUP_BEGIN, GROUP_STOP)
          | range(CREATE_INDEX, LAST_OF_SERVER)
          | range(PARTITION, SNAPSHOT_END);

  /** The longest record. */
  public static final int LENGTH_LIMIT =
      KEY_OFFSET + KEY_LIMIT + (1 << 20) + BoxDescriptor.LENGTH + Long.BYTES;

  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle SHORT =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);

  private RecordDescriptor() {}

  private static long range(int first, int last) {
    return (-1L >>> (Long.SIZE - 1 - last)) & (-1L << first);
  }

  /** Whether a record can have this type, these flags, and a key of this length. */
  static boolean isPossible(int type, int flags, int keyLength) {
    return type < Long.SIZE
        && ((TYPES >>> type) & 1) != 0
        && (flags & ~FLAGS) == 0
        && keyLength <= KEY_LIMIT;
  }

  /**
   * The salt of a record's checksum in a batch: exclusive-or with the plain checksum.
   *
   * @param origin that the batch has in its header
   * @param position of the record: that of its batch, and its offset there
   */
  static int salt(long origin, long position) {
    return (int) (((origin ^ position) * 0x9E37_79B9_7F4A_7C15L) >>> Integer.SIZE);
  }

  /** Length with padding. */
  public static int aligned(int length) {
    return (length + ALIGNMENT - 1) & -ALIGNMENT;
  }

  /** Whether the type is that of a record of a partition, which has one of its LSNs. */
  public static boolean isOfPartition(int type) {
    return type <= TRANSACTION;
  }

  static int getInt(byte[] bytes, int position) {
    return (int) INT.get(bytes, position);
  }

  static void putInt(byte[] bytes, int position, int value) {
    INT.set(bytes, position, value);
  }

  static long getLong(byte[] bytes, int position) {
    return (long) LONG.get(bytes, position);
  }

  static void putLong(byte[] bytes, int position, long value) {
    LONG.set(bytes, position, value);
  }

  static int getShort(byte[] bytes, int position) {
    return (short) SHORT.get(bytes, position) & 0xFFFF;
  }

  static void putShort(byte[] bytes, int position, int value) {
    SHORT.set(bytes, position, (short) value);
  }

  /** The value of a record that is one number. */
  public static ByteString value(long number) {
    final byte[] bytes = new byte[Long.BYTES];
    putLong(bytes, 0, number);
    return ByteString.copyFrom(bytes);
  }

  /** Checksum of the record of that length which begins at {@code position}. */
  static int crc(CRC32C crc, byte[] bytes, int position, int length) {
    crc.reset();
    crc.update(bytes, position + LENGTH_OFFSET, length - LENGTH_OFFSET);
    return (int) crc.getValue();
  }
}
