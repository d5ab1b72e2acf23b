package dev.ringfetch.index.journal;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The queue of encoded records of one partition on their way to a log, in a chain of arrays. One
 * thread at a time appends, another one takes; neither waits for the other. Arrays are reused.
 */
public final class PendingRecords {
  private static final int CHUNK_LENGTH = 16 << 10;

  private static final VarHandle END;
  private static final VarHandle NEXT;
  private static final VarHandle SPARE;

  static {
    try {
      final MethodHandles.Lookup lookup = MethodHandles.lookup();
      END = lookup.findVarHandle(Chunk.class, "end", int.class);
      NEXT = lookup.findVarHandle(Chunk.class, "next", Chunk.class);
      SPARE = lookup.findVarHandle(PendingRecords.class, "spare", Chunk.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** A receiver of the records. */
  public interface Taker {
    /** Whether a record of this aligned length can be added. */
    boolean hasRoom(int length);

    /** Adds a record with its padding; the bytes are valid during the call. */
    void add(byte[] bytes, int offset, int length);
  }

  private static final class Chunk {
    final byte[] bytes;

    @SuppressWarnings("UnusedVariable") // used by a VarHandle
    int end;

    @SuppressWarnings("UnusedVariable")
    Chunk next;

    Chunk(int length) {
      bytes = new byte[length];
    }
  }

  // Of the thread that appends.
  private Chunk last = new Chunk(0);
  private int used;
  private int claimed;

  // Of the thread that takes.
  private Chunk first = last;
  private int taken;

  /** An empty array, passed from the thread that takes to the one that appends. */
  @SuppressWarnings("UnusedVariable")
  private Chunk spare;

  /** Creates a queue without records. */
  public PendingRecords() {}

  /** Claims room for a record of this aligned length; returns the array, see {@link #offset}. */
  public byte[] claim(int length) {
    if (used + length > last.bytes.length) {
      Chunk chunk = length > CHUNK_LENGTH ? null : (Chunk) SPARE.getAndSet(this, null);
      if (chunk == null) {
        chunk = new Chunk(Math.max(length, CHUNK_LENGTH));
      }
      NEXT.setRelease(last, chunk); // its end was released before
      last = chunk;
      used = 0;
    }
    claimed = length;
    return last.bytes;
  }

  /** Offset of the claimed room. */
  public int offset() {
    return used;
  }

  /** Appends the record in the claimed room. */
  public void append() {
    used += claimed;
    END.setRelease(last, used);
  }

  /** Whether the queue is empty. For the thread that takes. */
  public boolean isEmpty() {
    return !hasNext();
  }

  /** Whether there is a next record to take. */
  private boolean hasNext() {
    while (true) {
      final Chunk next = (Chunk) NEXT.getAcquire(first); // before the end, which is final then
      if (taken < (int) END.getAcquire(first)) {
        return true;
      }
      if (next == null) {
        return false;
      }
      final Chunk empty = first;
      first = next;
      taken = 0;
      if (empty.bytes.length == CHUNK_LENGTH) {
        empty.end = 0;
        empty.next = null;
        SPARE.setRelease(this, empty);
      }
    }
  }

  /**
   * Moves records while the taker has room for them.
   *
   * @return the LSN of the last one; 0 if there was none, or no room
   */
  public long take(Taker taker) {
    long lsn = 0;
    while (hasNext()) {
      final byte[] bytes = first.bytes;
      final int length =
          RecordDescriptor.aligned(
              RecordDescriptor.getInt(bytes, taken + RecordDescriptor.LENGTH_OFFSET));
      if (!taker.hasRoom(length)) {
        break;
      }
      taker.add(bytes, taken, length);
      lsn = RecordDescriptor.getLong(bytes, taken + RecordDescriptor.LSN_OFFSET);
      taken += length;
    }
    return lsn;
  }
}
