package dev.ringfetch.index.journal;

import com.google.protobuf.ByteString;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * Layout of a record: one change of one partition. It is the same wherever the record stands: in a
 * journal, in a snapshot, or on its way to another node. Little-endian.
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
 *  |                    The deadline, 64 bits                     ...
 *  +---------------------------------------------------------------+
 * </pre>
 *
 * <ul>
 *   <li><b>Crc32c</b>: of all that follows, so also of partition, epoch and LSN. In a batch it is
 *       salted with the place, see {@link #salt}: so no bytes of a value, and no record that was
 *       written elsewhere, pass for a record where they stand.
 *   <li><b>Length</b>: of the record in bytes, without the zeros behind it that fill it up to a
 *       multiple of {@value #ALIGNMENT}.
 *   <li><b>Type</b>: what the record says; see the constants.
 *   <li><b>Flags</b>: {@link #POSITIVE}, {@link #DEADLINE}, {@link #EXPIRED}. Others are 0.
 *   <li><b>Key length</b>: in bytes. The value has the rest of the record, up to the deadline.
 *   <li><b>Partition, Index</b>: the partition that the record belongs to, and the number of its
 *       index, which no other index of the directory has or had.
 *   <li><b>Epoch</b>: of the server that wrote the record.
 *   <li><b>Lsn</b>: log sequence number; in a partition each record has a larger one than those
 *       before.
 *   <li><b>Client, Request</b>: number of a client and of its request, from which the record comes;
 *       0 if the client has none. The request has its number in the lower 48 bits; above them
 *       stands how far that is from the client's first incomplete one, which was known then.
 *   <li><b>Deadline</b>: there with {@link #DEADLINE} alone: the last 8 bytes. Milliseconds since
 *       1970, of the partition's clock; from then on the entry is absent.
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

  /** Records begin at multiples of so many bytes. */
  public static final int ALIGNMENT = 8;

  /** Type: an entry was written. */
  public static final int PUT = 1;

  /** Type: the entry of the key was removed. */
  public static final int DELETE = 2;

  /**
   * Type: a client's request had its outcome, and changed nothing itself: a lost comparison, the
   * delete of no entry, the end of a range's removal. The value is an {@link OutcomeDescriptor}. In
   * a snapshot it may be any outcome.
   */
  public static final int OUTCOME = 3;

  /** Type: the clock of a partition went on. The value is its time, as a deadline is. */
  public static final int TICK = 4;

  /**
   * Type, in the journal of a cluster's node alone: the node begins with the group anew, in this
   * epoch, and what it had of it counts no more. The value is the group's state. Records of a
   * snapshot follow, whose epoch is 0, up to the next {@link #GROUP_EPOCH}.
   */
  public static final int GROUP_BEGIN = 8;

  /**
   * Type, in the journal of a cluster's node alone: the node obeys this epoch of the group from now
   * on. The value is the position at which the group's log ends here: what it has beyond, it gives
   * up, and the next record of the log follows there.
   */
  public static final int GROUP_EPOCH = 9;

  /**
   * Type, in the journal of a cluster's node alone: all is committed up to the value, a position.
   */
  public static final int GROUP_COMMIT = 10;

  /** Type, in the journal of a cluster's node alone: the group was dropped. */
  public static final int GROUP_END = 11;

  /**
   * Type, in the journal and the snapshots of a cluster's node alone: a snapshot has of the group
   * all that stands before this in the journal. The value is a number that the same record in the
   * snapshot has, and no other one.
   */
  public static final int GROUP_MARK = 12;

  /**
   * Type, in what a process has left that ended in order alone: its last record. The value has the
   * process, as StopDescriptor lays out.
   */
  public static final int GROUP_STOP = 13;

  /** Type: an index was created: the key is its name, the value an {@link IndexDefinition}. */
  public static final int CREATE_INDEX = 16;

  /** Type: the index was dropped. */
  public static final int DROP_INDEX = 17;

  /**
   * Type: a server began after one that had not ended in order. Records may be lost that were
   * appended, so all partitions that there are go on {@link Journal#LOST_LIMIT} LSNs further.
   */
  public static final int SKIP = 18;

  /** Type: a client has this number from now on. Its request is the first incomplete one. */
  public static final int OPEN_CLIENT = 19;

  /** Type: there is no client of this number any more, and its outcomes are gone. */
  public static final int CLOSE_CLIENT = 20;

  /**
   * Type: a server began on a copy of its directory. The indexes that there are have other
   * incarnations from then on, which the value changes, 64 bits; and they skip LSNs as with {@link
   * #SKIP}.
   */
  public static final int RESTORE = 21;

  /**
   * Type, in snapshots alone: a partition of an index. The LSN is one up to which all records are
   * in the snapshot; the value is the partition's clock, as a deadline is.
   */
  public static final int PARTITION = 32;

  /** Type: the last record of a snapshot, without which it is none. */
  public static final int SNAPSHOT_END = 33;

  /** Flag: the answer was a positive one: a put created the entry, a delete found it. */
  public static final int POSITIVE = 1;

  /** Flag: a deadline ends the record. */
  public static final int DEADLINE = 2;

  /** Flag: the entry was removed as its deadline had come. */
  public static final int EXPIRED = 4;

  /** The longest key: that of entries; names of indexes are shorter. */
  public static final int KEY_LIMIT = 1024;

  /** All flags. */
  private static final int FLAGS = POSITIVE | DEADLINE | EXPIRED;

  /** All types, each the bit of its number. */
  private static final long TYPES =
      range(PUT, TICK)
          | range(GROUP_BEGIN, GROUP_STOP)
          | range(CREATE_INDEX, RESTORE)
          | range(PARTITION, SNAPSHOT_END);

  /** The longest record. */
  public static final int LENGTH_LIMIT = KEY_OFFSET + KEY_LIMIT + (1 << 20) + Long.BYTES;

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

  /** Length with the zeros behind it. */
  public static int aligned(int length) {
    return (length + ALIGNMENT - 1) & -ALIGNMENT;
  }

  /** Whether a type is of what a cluster's node notes of a group. */
  public static boolean isOfGroup(int type) {
    return type >= GROUP_BEGIN && type <= GROUP_MARK;
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
