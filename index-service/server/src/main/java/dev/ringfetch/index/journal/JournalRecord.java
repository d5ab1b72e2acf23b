package dev.ringfetch.index.journal;

import static dev.ringfetch.index.journal.RecordDescriptor.getInt;
import static dev.ringfetch.index.journal.RecordDescriptor.getLong;
import static dev.ringfetch.index.journal.RecordDescriptor.getShort;
import static dev.ringfetch.index.journal.RecordDescriptor.putInt;
import static dev.ringfetch.index.journal.RecordDescriptor.putLong;
import static dev.ringfetch.index.journal.RecordDescriptor.putShort;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import dev.ringfetch.index.layout.BoxDescriptor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A view of a record in an array, with the layout of {@link RecordDescriptor}. The array belongs to
 * the caller; the view is valid until the array changes.
 *
 * <p>Used by one thread at a time.
 */
public final class JournalRecord {
  private final CRC32C crc = new CRC32C();
  private byte[] bytes;
  private int start;
  private int length;

  /** Salt of the checksum at the record's place; 0 outside of batches. */
  private int salt;

  /** Creates a view of nothing. */
  public JournalRecord() {}

  /** Length of a record with a key and a value of these lengths, without padding. */
  static int length(int keyLength, int valueLength) {
    return RecordDescriptor.KEY_OFFSET + keyLength + valueLength;
  }

  /**
   * Length of a record with padding.
   *
   * @param deadline 0 for none
   */
  public static int aligned(ByteString key, ByteString value, long deadline) {
    final int deadlineLength = deadline == 0 ? 0 : Long.BYTES;
    return RecordDescriptor.aligned(length(key.size(), value.size()) + deadlineLength);
  }

  /**
   * Begins a record with this key and value at this place of an array, which has room for its
   * {@linkplain RecordDescriptor#aligned aligned} length; all other fields are 0 until set.
   */
  public JournalRecord begin(
      byte[] array, int position, int type, ByteString key, ByteString value) {
    view(array, position, length(key.size(), value.size()));
    final int end = RecordDescriptor.aligned(length);
    Arrays.fill(bytes, start, start + RecordDescriptor.KEY_OFFSET, (byte) 0);
    Arrays.fill(bytes, start + length, start + end, (byte) 0);
    putInt(bytes, start + RecordDescriptor.LENGTH_OFFSET, length);
    bytes[start + RecordDescriptor.TYPE_OFFSET] = (byte) type;
    putShort(bytes, start + RecordDescriptor.KEY_LENGTH_OFFSET, key.size());
    key.copyTo(bytes, start + RecordDescriptor.KEY_OFFSET);
    value.copyTo(bytes, start + RecordDescriptor.KEY_OFFSET + key.size());
    return this;
  }

  /** Sets the flags. */
  public JournalRecord flags(int flags) {
    bytes[start + RecordDescriptor.FLAGS_OFFSET] = (byte) flags;
    return this;
  }

  /** Adds a deadline, which must have room after the record; does nothing if it is 0. */
  public JournalRecord deadline(long deadline) {
    if (deadline != 0) {
      putLong(bytes, start + length, deadline);
      length += Long.BYTES;
      putInt(bytes, start + RecordDescriptor.LENGTH_OFFSET, length);
      Arrays.fill(bytes, start + length, start + RecordDescriptor.aligned(length), (byte) 0);
      bytes[start + RecordDescriptor.FLAGS_OFFSET] |= (byte) RecordDescriptor.DEADLINE;
    }
    return this;
  }

  /** Sets the index and the partition of the record. */
  public JournalRecord partition(long index, int partition) {
    putLong(bytes, start + RecordDescriptor.INDEX_OFFSET, index);
    putInt(bytes, start + RecordDescriptor.PARTITION_OFFSET, partition);
    return this;
  }

  /** Sets the client and the request of the record; default 0. */
  public JournalRecord request(long client, long number) {
    putLong(bytes, start + RecordDescriptor.CLIENT_OFFSET, client);
    putLong(bytes, start + RecordDescriptor.REQUEST_OFFSET, number);
    return this;
  }

  /** Sets the place of the record in its partition. */
  public JournalRecord place(long epoch, long lsn) {
    putLong(bytes, start + RecordDescriptor.EPOCH_OFFSET, epoch);
    putLong(bytes, start + RecordDescriptor.LSN_OFFSET, lsn);
    return this;
  }

  /** Ends the record with its checksum. */
  public void end() {
    putInt(
        bytes,
        start + RecordDescriptor.CRC_OFFSET,
        RecordDescriptor.crc(crc, bytes, start, length));
  }

  /**
   * Moves the view to the record at this place, outside of batches.
   *
   * @param limit end of the bytes that may belong to the record
   * @return whether there is a valid record
   */
  public boolean wrap(byte[] array, int position, int limit) {
    return wrap(array, position, limit, 0);
  }

  /** Same, for a record in a batch, whose checksum is {@linkplain RecordDescriptor#salt salted}. */
  boolean wrap(byte[] array, int position, int limit, int placeSalt) {
    return isWhole(array, position, limit, placeSalt)
        && RecordDescriptor.isPossible(type(), flags(), keyLength());
  }

  /** Same, for a record that only a version after this one writes. */
  public boolean wrapUnknown(byte[] array, int position, int limit) {
    return isWhole(array, position, limit, 0)
        && !RecordDescriptor.isPossible(type(), flags(), keyLength());
  }

  private boolean isWhole(byte[] array, int position, int limit, int placeSalt) {
    if (limit - position < RecordDescriptor.KEY_OFFSET) {
      return false;
    }
    final int stored = getInt(array, position + RecordDescriptor.LENGTH_OFFSET);
    if (stored < RecordDescriptor.KEY_OFFSET
        || stored > RecordDescriptor.LENGTH_LIMIT
        || stored > limit - position) {
      return false;
    }
    view(array, position, stored);
    salt = placeSalt;
    return keyLength() + formerLength() + deadlineLength() <= length - RecordDescriptor.KEY_OFFSET
        && (getInt(array, position + RecordDescriptor.CRC_OFFSET) ^ salt)
            == RecordDescriptor.crc(crc, array, position, stored);
  }

  /** Moves the view to a record of a log, which is known to be valid. */
  public JournalRecord at(byte[] array, int position) {
    view(array, position, getInt(array, position + RecordDescriptor.LENGTH_OFFSET));
    return this;
  }

  /** Length in bytes, without padding. */
  public int length() {
    return length;
  }

  /** The type of the record. */
  public int type() {
    return bytes[start + RecordDescriptor.TYPE_OFFSET] & 0xFF;
  }

  /** Flags. */
  public int flags() {
    return bytes[start + RecordDescriptor.FLAGS_OFFSET] & 0xFF;
  }

  /** Number of the partition. */
  public int partition() {
    return getInt(bytes, start + RecordDescriptor.PARTITION_OFFSET);
  }

  /** Number of the index. */
  public long index() {
    return getLong(bytes, start + RecordDescriptor.INDEX_OFFSET);
  }

  /** Epoch of the writer. */
  public long epoch() {
    return getLong(bytes, start + RecordDescriptor.EPOCH_OFFSET);
  }

  /** Log sequence number. */
  public long lsn() {
    return getLong(bytes, start + RecordDescriptor.LSN_OFFSET);
  }

  /** Number of the client, 0 if it has none. */
  public long client() {
    return getLong(bytes, start + RecordDescriptor.CLIENT_OFFSET);
  }

  /** Number of the client's request. */
  public long request() {
    return getLong(bytes, start + RecordDescriptor.REQUEST_OFFSET);
  }

  /** Deadline of the entry in milliseconds since 1970; 0 if it has none. */
  public long deadline() {
    return hasDeadline() ? getLong(bytes, start + length - Long.BYTES) : 0;
  }

  private boolean hasDeadline() {
    return (flags() & RecordDescriptor.DEADLINE) != 0;
  }

  private int deadlineLength() {
    return hasDeadline() ? Long.BYTES : 0;
  }

  /** A copy of the former box; empty if the record has none. */
  public ByteString former() {
    return ByteString.copyFrom(bytes, start + valueEnd(), formerLength());
  }

  private int formerLength() {
    return (flags() & RecordDescriptor.FORMER) != 0 ? BoxDescriptor.LENGTH : 0;
  }

  private int keyLength() {
    return getShort(bytes, start + RecordDescriptor.KEY_LENGTH_OFFSET);
  }

  /** A view of a copy of this record. */
  public JournalRecord copy() {
    final JournalRecord copy = new JournalRecord();
    copy.view(new byte[length], 0, length);
    copyTo(copy.bytes, 0);
    return copy;
  }

  /** Copies the {@link #length} bytes of the record, as it is outside of batches. */
  public void copyTo(byte[] array, int position) {
    System.arraycopy(bytes, start, array, position, length);
    if (salt != 0) {
      final int at = position + RecordDescriptor.CRC_OFFSET;
      putInt(array, at, getInt(array, at) ^ salt);
    }
  }

  /** Moves the view to a record outside of batches, without a check of its checksum. */
  public void view(byte[] array, int position, int copiedLength) {
    bytes = array;
    start = position;
    length = copiedLength;
    salt = 0;
  }

  /** Compares the key with that of another record, as unsigned bytes. */
  public int compareKey(JournalRecord other) {
    final int from = start + RecordDescriptor.KEY_OFFSET;
    final int otherFrom = other.start + RecordDescriptor.KEY_OFFSET;
    return Arrays.compareUnsigned(
        bytes, from, from + keyLength(), other.bytes, otherFrom, otherFrom + other.keyLength());
  }

  /** Length of the common prefix of both keys. */
  public int commonPrefix(JournalRecord other) {
    final int from = start + RecordDescriptor.KEY_OFFSET;
    final int otherFrom = other.start + RecordDescriptor.KEY_OFFSET;
    final int most = Math.min(keyLength(), other.keyLength());
    final int different =
        Arrays.mismatch(bytes, from, from + most, other.bytes, otherFrom, otherFrom + most);
    return different < 0 ? most : different;
  }

  /** Eight bytes of the key from an offset on, the first one highest; zeros behind its end. */
  public long keyHead(int offset) {
    long head = 0;
    for (int i = offset; i < offset + Long.BYTES; i++) {
      head <<= Byte.SIZE;
      head |= i < keyLength() ? bytes[start + RecordDescriptor.KEY_OFFSET + i] & 0xFF : 0;
    }
    return head;
  }

  /** The key itself, which is valid as long as this view is. */
  public ByteString keyView() {
    return UnsafeByteOperations.unsafeWrap(bytes, start + RecordDescriptor.KEY_OFFSET, keyLength());
  }

  /** The value itself, which is valid as long as this view is. */
  public ByteString valueView() {
    final int offset = RecordDescriptor.KEY_OFFSET + keyLength();
    return UnsafeByteOperations.unsafeWrap(bytes, start + offset, valueEnd() - offset);
  }

  /** A copy of the key. */
  public ByteString key() {
    return ByteString.copyFrom(bytes, start + RecordDescriptor.KEY_OFFSET, keyLength());
  }

  /**
   * The value of a record whose value is one number: the time of a {@link RecordDescriptor#TICK}.
   */
  public long number() {
    return getLong(bytes, start + RecordDescriptor.KEY_OFFSET + keyLength());
  }

  /** A copy of the value. */
  public ByteString value() {
    final int offset = RecordDescriptor.KEY_OFFSET + keyLength();
    return ByteString.copyFrom(bytes, start + offset, valueEnd() - offset);
  }

  /**
   * The records in the value of a {@link RecordDescriptor#TRANSACTION}: views that are valid as
   * long as this one is. Null if the value is malformed.
   */
  public @Nullable List<JournalRecord> parts() {
    final List<JournalRecord> parts = new ArrayList<>();
    int position = start + RecordDescriptor.KEY_OFFSET + keyLength();
    final int end = start + valueEnd();
    while (position < end) {
      final JournalRecord part = new JournalRecord();
      if (!part.wrap(bytes, position, end) || !isPart(part)) {
        return null;
      }
      parts.add(part);
      position += RecordDescriptor.aligned(part.length);
    }
    return parts;
  }

  private boolean isPart(JournalRecord part) {
    return part.type() <= RecordDescriptor.OUTCOME
        && part.lsn() == lsn()
        && part.partition() == partition()
        && part.index() == index();
  }

  private int valueEnd() {
    return length - deadlineLength() - formerLength();
  }

  @Override
  public String toString() {
    return "type="
        + type()
        + " index="
        + index()
        + " partition="
        + partition()
        + " epoch="
        + epoch()
        + " lsn="
        + lsn();
  }
}
