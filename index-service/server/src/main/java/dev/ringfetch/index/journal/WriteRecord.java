package dev.ringfetch.index.journal;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.partition.WriteKind;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The encoder of a write's record: derives type, flags and value from the write.
 *
 * <p>Used by one thread at a time; reused, so that a put allocates nothing.
 */
public final class WriteRecord {
  private final JournalRecord view = new JournalRecord();
  private int type;
  private int flags;
  private ByteString key = ByteString.EMPTY;
  private ByteString value = ByteString.EMPTY;
  private long deadline;
  private long client;
  private long request;
  private @Nullable List<WriteRecord> parts; // null unless it is a transaction's

  /** Creates an encoder without a write. */
  public WriteRecord() {}

  /** Sets the write. */
  public void of(Write write) {
    parts = null;
    client = 0;
    request = 0;
    flags = 0;
    deadline = 0;
    key = ByteString.EMPTY;
    value = ByteString.EMPTY;
    if (write.kind() == WriteKind.TICK) {
      type = RecordDescriptor.TICK;
      value = RecordDescriptor.value(write.deadline());
    } else if (write.isUnchanged()) {
      outcome(write);
    } else if (write.kind() == WriteKind.TRANSACTION || !write.answer().isEmpty()) {
      type = RecordDescriptor.TRANSACTION;
      parts = parts(write);
    } else {
      change(write);
      number(write);
    }
  }

  private void change(Write write) {
    type = write.removesEntry() ? RecordDescriptor.DELETE : RecordDescriptor.PUT;
    flags =
        (write.creates() || write.existed() ? RecordDescriptor.POSITIVE : 0)
            | (write.isExpired() ? RecordDescriptor.EXPIRED : 0)
            | (write.former().isEmpty() ? 0 : RecordDescriptor.FORMER);
    key = write.key();
    value = write.value().concat(write.former());
    deadline = write.deadline();
  }

  private void outcome(Write write) {
    type = RecordDescriptor.OUTCOME;
    flags = write.isPositive() ? RecordDescriptor.POSITIVE : 0;
    value = OutcomeDescriptor.encode(write.outcomeKind(), write.detail(), write.answer());
    number(write);
  }

  private void number(Write write) {
    if (write.client() != null) {
      client = write.client().id();
      request = write.client().packed(write.number());
    }
  }

  /** The parts of a transaction's record: its changes, and its outcome if it has a number. */
  private static List<WriteRecord> parts(Write write) {
    final List<WriteRecord> parts = new ArrayList<>();
    for (Write change = write.firstPart(); change != null; change = change.nextPart()) {
      final WriteRecord part = new WriteRecord();
      part.change(change);
      parts.add(part);
    }
    if (write.client() != null) {
      final WriteRecord outcome = new WriteRecord();
      outcome.outcome(write);
      parts.add(outcome);
    }
    return parts;
  }

  /** Length in bytes, with padding. */
  public int aligned() {
    int length = JournalRecord.aligned(key, value, deadline);
    for (int i = 0; parts != null && i < parts.size(); i++) {
      length += parts.get(i).aligned();
    }
    return length;
  }

  /**
   * Writes the record at this place of an array, which has room for its {@link #aligned} length.
   *
   * @param index of the partition
   */
  public void encode(byte[] array, int position, long index, int partition, long epoch, long lsn) {
    if (parts != null) {
      value = encodeParts(index, partition, epoch, lsn);
    }
    view.begin(array, position, type, key, value)
        .flags(flags)
        .deadline(deadline)
        .partition(index, partition)
        .request(client, request)
        .place(epoch, lsn)
        .end();
  }

  private ByteString encodeParts(long index, int partition, long epoch, long lsn) {
    final byte[] encoded =
        new byte[aligned() - RecordDescriptor.aligned(RecordDescriptor.KEY_OFFSET)];
    int position = 0;
    for (final WriteRecord part : parts) {
      part.encode(encoded, position, index, partition, epoch, lsn);
      position += part.aligned();
    }
    return UnsafeByteOperations.unsafeWrap(encoded);
  }

  public int type() {
    return type;
  }

  int flags() {
    return flags;
  }

  ByteString key() {
    return key;
  }

  ByteString value() {
    return value;
  }

  long deadline() {
    return deadline;
  }

  long client() {
    return client;
  }

  long request() {
    return request;
  }
}
