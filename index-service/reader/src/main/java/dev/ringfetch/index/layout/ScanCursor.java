package dev.ringfetch.index.layout;

import com.google.protobuf.ByteString;
import java.util.Arrays;

/**
 * The place of a scan in the order of keys: which keys are still to come. A scan that was broken
 * off goes on with it, with another reader as well. Used by one thread at a time.
 */
public final class ScanCursor {
  private static final int CAPACITY = KeyBounds.MAX_LENGTH;

  private final boolean reverse;

  /** Forward, keys from this one on are out of the range; in reverse, keys before this one. */
  private final byte[] bound;

  private final boolean bounded;

  /** Forward, the least key that may come; in reverse, all that come are before this. */
  private final byte[] place = new byte[CAPACITY];

  private int length;

  /** In reverse: there is no place yet, every key may come. */
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
   * @param end the first key that does not come any more; empty: there is none
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
   * @param start the last key that may come; empty: there is none
   * @param end all keys that come are before it; empty: there is no such key
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
   * The place, with which another cursor goes on: as the start of a forward scan, or as the end of
   * one in reverse. Empty in reverse as long as no place was reached.
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

  /** Whether a key of an answer is one that may come next: then this moves behind it. */
  public boolean passIfAhead(byte[] array, int offset, int keyLength) {
    final boolean isAhead =
        isAhead(array, offset, keyLength) && !isBeyond(array, offset, keyLength);
    if (isAhead) {
      pass(array, offset, keyLength);
    }
    return isAhead;
  }

  /** Whether a key is still to come, as far as the place says; the bound is checked besides. */
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

  /** Moves behind a key that came. */
  void pass(byte[] array, int offset, int keyLength) {
    moveTo(array, offset, keyLength);
    if (!reverse) {
      place[length++] = 0; // the next key there can be
      done |= length == CAPACITY && isLast();
    }
  }

  /** Whether the key that the place is behind is the last of all. */
  private boolean isLast() {
    for (int i = 0; i < CAPACITY - 1; i++) {
      if (place[i] != (byte) 0xFF) {
        return false;
      }
    }
    return true;
  }

  /**
   * Moves to the fence at which the keys of a leaf end, in the direction of the scan.
   *
   * @return whether that is further than the place was
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
