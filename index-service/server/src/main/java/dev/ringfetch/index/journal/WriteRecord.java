package dev.ringfetch.index.journal;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.partition.Write;

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

  /** Creates an encoder without a write. */
  public WriteRecord() {}

  /** Sets the write. */
  public void of(Write write) {
    if (write.client() == null) {
      client = 0;
      request = 0;
    } else {
      client = write.client().id();
      request = write.client().packed(write.number());
    }
    flags = 0;
    deadline = 0;
    key = ByteString.EMPTY;
    if (write.kind() == Write.Kind.TICK) {
      type = RecordDescriptor.TICK;
      value = RecordDescriptor.value(write.deadline());
    } else if (write.isUnchanged()) {
      type = RecordDescriptor.OUTCOME;
      value = OutcomeDescriptor.encode(write.outcomeKind(), write.detail());
    } else {
      type = write.removesEntry() ? RecordDescriptor.DELETE : RecordDescriptor.PUT;
      flags =
          (write.creates() || write.existed() ? RecordDescriptor.POSITIVE : 0)
              | (write.isExpired() ? RecordDescriptor.EXPIRED : 0);
      key = write.key();
      value = write.value();
      deadline = write.deadline();
    }
  }

  /** Length in bytes, with padding. */
  public int aligned() {
    return JournalRecord.aligned(key, value, deadline);
  }

  /**
   * Writes the record at this place of an array, which has room for its {@link #aligned} length.
   *
   * @param index of the partition
   */
  public void encode(byte[] array, int position, long index, int partition, long epoch, long lsn) {
    view.begin(array, position, type, key, value)
        .flags(flags)
        .deadline(deadline)
        .partition(index, partition)
        .request(client, request)
        .place(epoch, lsn)
        .end();
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
