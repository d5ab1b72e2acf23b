package dev.ringfetch.memory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A reader's place in the memory of a broadcast, with a private copy of the records that come next.
 *
 * <p>Used by one thread at a time.
 */
final class BroadcastCursor {
  /** Length of a batch at the most, unless its first record is longer. */
  private static final int BATCH_LENGTH = 64 << 10;

  private static final int ATTEMPTS = 64;
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final int ringLength;
  private byte[] batch = {};
  private ByteBuffer buffer = ByteBuffer.wrap(batch);
  private long position;
  private long sequence;
  private int begin; // of the rest of the batch
  private int end;
  private int messageBegin;
  private int messageLength;

  /** Creates a cursor at the first message of a ring. */
  BroadcastCursor(int ringLength) {
    this.ringLength = ringLength;
  }

  /** Position of the next message. */
  long position() {
    return position;
  }

  /** Number of the next message. */
  long sequence() {
    return sequence;
  }

  /** Moves to a place; what was copied is dropped. */
  void move(long newPosition, long newSequence) {
    position = newPosition;
    sequence = newSequence;
    begin = 0;
    end = 0;
  }

  /** Moves behind the latest message, and returns how many there were. */
  long moveToEnd(RegionReads reads) throws LostMemoryException, MalformedMemoryException {
    if (tail(reads) == 0) {
      move(0, 0);
    } else {
      final int length = moveToLatest(reads);
      move(position + BroadcastDescriptor.recordLength(length), sequence + 1);
    }
    reads.verify();
    return sequence;
  }

  private static long tail(RegionReads reads) throws LostMemoryException {
    final long tail = reads.load(BroadcastDescriptor.TAIL_OFFSET);
    if (tail == BroadcastDescriptor.CLOSED) {
      reads.verify(); // its page may be gone, too
      throw new LostMemoryException();
    }
    return tail;
  }

  /** Moves to the latest message, and returns its length. */
  private int moveToLatest(RegionReads reads) throws LostMemoryException, MalformedMemoryException {
    for (int i = 0; i < ATTEMPTS; i++) {
      final long latest = reads.load(BroadcastDescriptor.LATEST_OFFSET);
      if (!isPosition(latest) || index(latest) > ringLength - BroadcastDescriptor.MESSAGE_OFFSET) {
        throw malformed(reads, "latest=" + latest);
      }
      final int record = offset(latest);
      final long length = reads.load(record + BroadcastDescriptor.LENGTH_OFFSET);
      final long number = reads.load(record + BroadcastDescriptor.SEQUENCE_OFFSET);
      if (!isOverwritten(reads, latest)) {
        if (length < 0 || length > BroadcastDescriptor.maxMessageLength(ringLength)) {
          throw malformed(reads, "position=" + latest + " length=" + length);
        }
        move(latest, number);
        return (int) length;
      }
    }
    throw malformed(reads, "no record is whole: position=" + position);
  }

  /** The failure for what was loaded, unless the memory is gone. */
  private static MalformedMemoryException malformed(RegionReads reads, String message)
      throws LostMemoryException {
    reads.verify();
    return new MalformedMemoryException(message);
  }

  private boolean isOverwritten(RegionReads reads, long from) throws LostMemoryException {
    return reads.load(BroadcastDescriptor.INTENT_OFFSET) - from > ringLength;
  }

  /** Returns whether a record, or padding, may begin at a position. */
  static boolean isPosition(long at) {
    return at >= 0 && at % Long.BYTES == 0;
  }

  private int index(long at) {
    return (int) at & (ringLength - 1);
  }

  private int offset(long at) {
    return BroadcastDescriptor.RING_OFFSET + index(at);
  }

  /** Returns whether the length at the position is that of padding, which begins no ring. */
  private boolean isPadding(int length) {
    return length == BroadcastDescriptor.PADDING && index(position) > 0;
  }

  private void skipPadding() {
    position = (position | (ringLength - 1)) + 1;
  }

  /**
   * Copies the next records if the batch before is used up. If the owner has overwritten them,
   * moves on to the latest message.
   *
   * @return how many messages were overwritten.
   */
  long fill(RegionReads reads) throws LostMemoryException, MalformedMemoryException {
    if (begin < end) {
      return 0;
    }
    long lost = 0;
    for (int i = 0; i < ATTEMPTS; i++) {
      final long before = sequence;
      if (copy(reads)) {
        reads.verify();
        return lost;
      }
      moveToLatest(reads);
      if (sequence < before) {
        throw malformed(reads, "sequence=" + sequence + " before=" + before);
      }
      lost += sequence - before;
    }
    reads.verify(); // the next poll goes on from here
    return lost;
  }

  /** Copies records from the position on; false if they were overwritten. */
  private boolean copy(RegionReads reads) throws LostMemoryException, MalformedMemoryException {
    int limit = BATCH_LENGTH;
    while (true) { // once more after padding, and once more for a long record
      final long ready = tail(reads) - position;
      if (ready <= 0) { // none; the latest message may be newer than the tail that was loaded
        return true;
      }
      if (ready > ringLength) {
        return false;
      }
      final int length = (int) Math.min(Math.min(ready, ringLength - index(position)), limit);
      if (batch.length < length) {
        batch = new byte[(length + 7) & -8];
        buffer = ByteBuffer.wrap(batch).order(ByteOrder.LITTLE_ENDIAN);
      }
      reads.copy(offset(position), length, batch);
      if (isOverwritten(reads, position)) {
        return false;
      }
      final int first = (int) (long) LONG.get(batch, 0);
      if (isPadding(first)) {
        skipPadding();
      } else if (limit == BATCH_LENGTH
          && first > BATCH_LENGTH - BroadcastDescriptor.MESSAGE_OFFSET
          && first <= BroadcastDescriptor.maxMessageLength(ringLength)) {
        limit = BroadcastDescriptor.recordLength(first);
      } else {
        begin = 0;
        end = length;
        return true;
      }
    }
  }

  /**
   * Moves to the next message of the batch.
   *
   * @return false if the batch has no whole one.
   */
  boolean next() throws MalformedMemoryException {
    if (begin == end) {
      return false;
    }
    final int length = (int) (long) LONG.get(batch, begin);
    if (isPadding(length)) { // the batch ends with the ring
      skipPadding();
      end = begin;
      return false;
    }
    if (length < 0 || length > BroadcastDescriptor.maxMessageLength(ringLength)) {
      throw new MalformedMemoryException("position=" + position + " length=" + length);
    }
    final int recordLength = BroadcastDescriptor.recordLength(length);
    if (recordLength > end - begin) {
      if (begin == 0) { // a batch holds its first record
        throw new MalformedMemoryException("position=" + position + " length=" + length);
      }
      end = begin; // the next batch begins with it
      return false;
    }
    final long number = (long) LONG.get(batch, begin + BroadcastDescriptor.SEQUENCE_OFFSET);
    if (number != sequence) {
      throw new MalformedMemoryException("sequence=" + number + " expected=" + sequence);
    }
    messageBegin = begin + BroadcastDescriptor.MESSAGE_OFFSET;
    messageLength = length;
    begin += recordLength;
    position += recordLength;
    sequence++;
    return true;
  }

  /** The message that {@link #next} has moved to. */
  ByteBuffer message() {
    return buffer.limit(messageBegin + messageLength).position(messageBegin);
  }
}
