package dev.ringfetch.index.log;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import dev.ringfetch.index.journal.JournalRecord;
import dev.ringfetch.index.journal.RecordDescriptor;

/**
 * The records of a group that a replica keeps, by their positions: in a chain of arrays, whose
 * bytes never change once they are written, as messages under way refer to them.
 *
 * <p>The replica's owner only.
 */
public final class RecordLog {
  private static final int CHUNK_LENGTH = 64 << 10;

  /** A node may have thousands of groups, most with few records: chunks grow with what comes. */
  private static final int FIRST_CHUNK_LENGTH = 1 << 10;

  private static final int CHUNK_GROWTH = 4;

  /** About a tenth of a second of a fast network. */
  public static final int WAITING_DEFAULT = 16 << 20;

  /** Chunks are that much shorter than what may wait: only whole ones are given back. */
  private static final int CHUNKS = 4;

  private static final class Chunk {
    final byte[] bytes;
    final long base; // position before the first record
    long last; // position of the last record
    int used;
    Chunk next;

    Chunk(int length, long base) {
      bytes = new byte[length];
      this.base = base;
      last = base;
    }
  }

  private final JournalRecord view = new JournalRecord();
  private final int chunkLength;
  private Chunk first;
  private Chunk last;
  private long bytes;

  /**
   * Creates a log without records, at position 0.
   *
   * @param limit of bytes that wait for their commit
   */
  public RecordLog(int limit) {
    chunkLength = Math.min(CHUNK_LENGTH, limit / CHUNKS);
    reset(0);
  }

  /** Gives up all records: the next one follows this position. */
  public void reset(long position) {
    first = new Chunk(Math.min(FIRST_CHUNK_LENGTH, chunkLength), position);
    last = first;
    bytes = 0;
  }

  /** Position of the last record. */
  public long end() {
    return last.last;
  }

  /** Position before the first record that is kept. */
  public long base() {
    return first.base;
  }

  /** Bytes of all records that are kept. */
  public long bytes() {
    return bytes;
  }

  /** Appends one record, of this aligned length. */
  public void add(byte[] source, int offset, int length) {
    final Chunk chunk = room(length);
    System.arraycopy(source, offset, chunk.bytes, chunk.used, length);
    added(chunk, length, 1);
  }

  /** Appends a copy of a record. */
  public void add(JournalRecord record) {
    final int length = RecordDescriptor.aligned(record.length());
    final Chunk chunk = room(length);
    record.copyTo(chunk.bytes, chunk.used);
    added(chunk, length, 1);
  }

  /**
   * Appends records, each aligned, but for the first ones.
   *
   * @param group that they must belong to
   * @return false if that is not what the bytes are, and nothing was appended
   */
  public boolean addAll(long group, ByteString records, int count, int skipped) {
    int offset = 0;
    if (skipped > 0) {
      final byte[] all = records.toByteArray();
      for (int i = 0; i < skipped; i++) {
        if (!view.wrap(all, offset, all.length)) {
          return false;
        }
        offset += RecordDescriptor.aligned(view.length());
      }
      if (offset > all.length) {
        return false;
      }
    }
    final int length = records.size() - offset;
    final Chunk chunk = room(length);
    records.substring(offset).copyTo(chunk.bytes, chunk.used);
    final int limit = chunk.used + length;
    int at = chunk.used;
    for (int i = skipped; i < count; i++) {
      if (!view.wrap(chunk.bytes, at, limit) || !allows(view, group)) {
        return false;
      }
      at += RecordDescriptor.aligned(view.length());
    }
    if (at != limit) {
      return false;
    }
    added(chunk, length, count - skipped);
    return true;
  }

  /** Whether a record may stand in the log of a group: the records of its journal may not. */
  public static boolean allows(JournalRecord record, long group) {
    final int type = record.type();
    return record.index() == group
        && record.epoch() != 0 // those of a snapshot
        && (type < RecordDescriptor.GROUP_BEGIN || type > RecordDescriptor.GROUP_STOP);
  }

  private Chunk room(int length) {
    if (length > last.bytes.length - last.used) {
      chain(length);
    }
    return last;
  }

  private void chain(int least) {
    final int length = Math.min(CHUNK_GROWTH * last.bytes.length, chunkLength);
    last.next = new Chunk(Math.max(least, length), last.last);
    last = last.next;
  }

  private void added(Chunk chunk, int length, int count) {
    chunk.used += length;
    chunk.last += count;
    bytes += length;
  }

  /** Gives up the records after a position, which is not before the base. */
  public void cut(long end) {
    final Cursor cursor = new Cursor();
    if (!cursor.seek(end)) {
      throw new IllegalArgumentException("end=" + end + " base=" + base() + " last=" + end());
    }
    final Chunk chunk = cursor.chunk;
    for (Chunk gone = chunk.next; gone != null; gone = gone.next) {
      bytes -= gone.used;
    }
    bytes -= chunk.used - cursor.offset;
    chunk.used = cursor.offset;
    chunk.last = end;
    last = chunk;
    chain(0); // a message under way may refer to the bytes behind
  }

  /** Releases records up to a position. */
  public void release(long position) {
    release(position, 0);
  }

  /** Same, but keeps this number of bytes of them. */
  public void release(long position, long kept) {
    while (first != last && first.last <= position && bytes - first.used >= kept) {
      bytes -= first.used;
      first = first.next;
    }
  }

  /** A place in the log. Valid until records before it are cut. */
  public final class Cursor {
    private Chunk chunk = first;
    private int offset;
    private int start;
    private long position = first.base;

    /** Position of the last record before this. */
    public long position() {
      return position;
    }

    /** Moves behind the record of a position; returns false if the log does not reach there. */
    public boolean seek(long to) {
      if (to < base() || to > end()) {
        return false;
      }
      if (to < position || chunk.base < base()) {
        chunk = first;
        offset = 0;
        position = first.base;
      }
      while (chunk.last < to) {
        nextChunk();
      }
      while (position < to) {
        skip();
      }
      return true;
    }

    private void nextChunk() {
      chunk = chunk.next;
      offset = 0;
      position = chunk.base;
    }

    private void skip() {
      offset += length(offset);
      position++;
    }

    /** Whether a record follows. */
    public boolean hasNext() {
      while (offset == chunk.used && chunk.next != null) {
        nextChunk();
      }
      return offset < chunk.used;
    }

    /** Moves on over the next record; returns a view of it, valid until the log is used again. */
    public JournalRecord next() {
      view.at(chunk.bytes, offset);
      offset += RecordDescriptor.aligned(view.length());
      position++;
      return view;
    }

    /**
     * Moves on over some of the records that follow, of at most so many bytes.
     *
     * @return their bytes, which stand in {@link #array} from {@link #start} on; 0 if there is no
     *     record, or the next one is longer
     */
    public int take(int limit) {
      hasNext(); // it may stand in the next chunk
      start = offset;
      if (chunk.used - offset <= limit) {
        offset = chunk.used;
        position = chunk.last;
        return offset - start;
      }
      while (length(offset) <= limit - (offset - start)) {
        skip();
      }
      return offset - start;
    }

    private int length(int at) {
      return RecordDescriptor.aligned(view.at(chunk.bytes, at).length());
    }

    /** The array of the records that were taken last, which never changes. */
    public byte[] array() {
      return chunk.bytes;
    }

    /** Where the next record begins in it. */
    int offset() {
      return offset;
    }

    /** Moves on over the next record; returns its aligned length. */
    int skipped() {
      final int begin = offset;
      skip();
      return offset - begin;
    }

    /** Where they begin in it. */
    public int start() {
      return start;
    }

    /** Moves on over records up to a position, or fewer; returns them, without a copy. */
    public ByteString takeTo(long end) {
      hasNext(); // it may stand in the next chunk
      final int from = offset;
      while (position < end && offset < chunk.used) {
        skip();
      }
      return UnsafeByteOperations.unsafeWrap(chunk.bytes, from, offset - from);
    }

    /** Moves on over some of the records that follow; returns them, without a copy. */
    public ByteString take() {
      final int start = offset;
      offset = chunk.used;
      position = chunk.last;
      return UnsafeByteOperations.unsafeWrap(chunk.bytes, start, offset - start);
    }
  }
}
