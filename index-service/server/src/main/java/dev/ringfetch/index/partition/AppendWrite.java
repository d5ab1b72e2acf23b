package dev.ringfetch.index.partition;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.AppendDescriptor;
import org.jspecify.annotations.Nullable;

/**
 * An append of one record to an index for appends: a put whose key the owner assigns, which is the
 * version that it will have, and whose value begins with the owner's time.
 */
public final class AppendWrite extends Write {
  private final ByteString record;
  private final @Nullable Write before;
  private long offset; // 0 until it is assigned
  private long timeMs;

  /**
   * Creates a prepared append.
   *
   * @param before the write that has to be carried out before this one; null if there is none
   */
  AppendWrite(Listener listener, ByteString record, @Nullable Write before) {
    super(listener);
    this.record = record;
    this.before = before;
    put(ByteString.EMPTY, record);
  }

  /** The negative outcome of the write before this one if that was refused; else DONE. */
  int refusedBefore() {
    return before == null ? DONE : before.outcome();
  }

  /** Assigns key and time. */
  void assign(long nextVersion, long timeMs) {
    offset = nextVersion;
    this.timeMs = timeMs;
    writes(AppendDescriptor.key(offset), AppendDescriptor.value(timeMs, record));
  }

  /** The time that was assigned, of a write that is done; 0 if an earlier attempt has done it. */
  public long timeMs() {
    return version() == offset ? timeMs : 0;
  }

  @Override
  void logged(long lsn) {
    if (offset != 0 && lsn != offset) {
      throw new IllegalStateException("lsn=" + lsn + " offset=" + offset);
    }
    super.logged(lsn);
  }
}
