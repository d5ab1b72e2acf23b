package dev.ringfetch.index.layout;

import com.google.protobuf.ByteString;
import java.util.Arrays;

/**
 * The position of a scan in the order of keys: delimits the keys that are still to come. An
 * interrupted scan can continue with it, also with another reader. Used by one thread at a time.
 */
public final class ScanCursor {
  private static final int CAPACITY = KeyBounds.MAX_LENGTH;

  private final boolean reverse;

  /**
   * The end of the range. Forward: exclusive, no key from it on comes. Reverse: inclusive, no key
   * before it comes.
   */
  private final byte[] bound;

  private final boolean bounded;

  /**
   * The position. Forward: the least key that may come. Reverse: all keys to come are before it.
   */
  private final byte[] place = new byte[CAPACITY];

  private int length;

  /** Reverse: there is no position yet, every key may come. */
  private boolean fromEnd;

  private boolean done;

  private ScanCursor(boolean reverse, byte[] bound) {
    this.reverse = reverse;
    this.bound = bound;
    bounded = bound.length > 0;
  }

  /**
   * Begins a scan in ascending order.
   *
   * @param start the first key that may come
   * @param end the first key beyond the range; empty if there is none
   */
  public static ScanCursor forward(ByteString start, ByteString end) {
    final ScanCursor cursor = new ScanCursor(false, end.toByteArray());
    cursor.moveTo(start);
    cursor.check();
    return cursor;
  }

  /**
   * Begins a scan in descending order.
   *
   * @param start the last key to come, the least of the range; empty if there is no lower bound
   * @param end the key after the range; empty if there is no upper bound
   */
  public static ScanCursor reverse(ByteString start, ByteString end) {
    final ScanCursor cursor = new ScanCursor(true, start.toByteArray());
    cursor.fromEnd = end.isEmpty();
    cursor.moveTo(end);
    cursor.check();
    return cursor;
  }

  private void moveTo(ByteString key) {
    if (key.size() > CAPACITY) {
      throw new IllegalArgumentException("length=" + key.size() + " limit=" + CAPACITY);
    }
    key.copyTo(place, 0);
    length = key.size();
  }

  /** Whether keys come in descending order. */
  public boolean isReverse() {
    return reverse;
  }

  /** Whether no key is left. */
  public boolean isDone() {
    return done;
  }

  /**
   * The position, with which another cursor can continue: as the start of a forward scan, or as the
   * end of a reverse scan. Empty in reverse before the first key.
   */
  public ByteString place() {
    return ByteString.copyFrom(place, 0, length);
  }

  byte[] bytes() {
    return place;
  }

  int length() {
    return length;
  }

  boolean isFromEnd() {
    return fromEnd;
  }

  /** Moves behind a key of an answer if it is ahead and within the range; returns whether it is. */
  public boolean passIfAhead(byte[] array, int offset, int keyLength) {
    final boolean isAhead =
        isAhead(array, offset, keyLength) && !isBeyond(array, offset, keyLength);
    if (isAhead) {
      pass(array, offset, keyLength);
    }
    return isAhead;
  }

  /** Whether a key is ahead of the position; {@link #isBeyond} checks the bound. */
  boolean isAhead(byte[] array, int offset, int keyLength) {
    if (fromEnd) {
      return true;
    }
    final int order = Arrays.compareUnsigned(array, offset, offset + keyLength, place, 0, length);
    return reverse ? order < 0 : order >= 0;
  }

  /** Whether a key is beyond the range. */
  boolean isBeyond(byte[] array, int offset, int keyLength) {
    if (!bounded) {
      return false;
    }
    final int order =
        Arrays.compareUnsigned(array, offset, offset + keyLength, bound, 0, bound.length);
    return reverse ? order < 0 : order >= 0;
  }

  /** Moves behind a key. */
  void pass(byte[] array, int offset, int keyLength) {
    moveTo(array, offset, keyLength);
    if (!reverse) {
      place[length++] = 0; // makes the next possible key
      done |= length == CAPACITY && isLast();
    }
  }

  /** Whether the position is behind the last of all keys. */
  private boolean isLast() {
    for (int i = 0; i < CAPACITY - 1; i++) {
      if (place[i] != (byte) 0xFF) {
        return false;
      }
    }
    return true;
  }

  /**
   * Moves to the fence at the end of a leaf, in the direction of the scan.
   *
   * @return whether that is beyond the former position
   */
  boolean leave(byte[] array, int offset, int keyLength) {
    final boolean further =
        fromEnd
            || Arrays.compareUnsigned(array, offset, offset + keyLength, place, 0, length)
                    * (reverse ? -1 : 1)
                > 0;
    moveTo(array, offset, keyLength);
    return further;
  }

  private void moveTo(byte[] array, int offset, int keyLength) {
    System.arraycopy(array, offset, place, 0, keyLength);
    length = keyLength;
    fromEnd = false;
    check();
  }

  /** Ends the scan where no key can be left. */
  private void check() {
    if (fromEnd) {
      return;
    }
    if (reverse) {
      done |=
          length == 0
              || (bounded && Arrays.compareUnsigned(place, 0, length, bound, 0, bound.length) <= 0);
    } else {
      done |= isBeyond(place, 0, length);
    }
  }

  /** Ends the scan: no key is left. */
  public void end() {
    done = true;
  }
}
