package dev.ringfetch.session;

/**
 * Streams that have something to send, in the order of their turns. Linked through the streams,
 * each of which stands here once: nothing is allocated, so that no want of memory leaves the line
 * half changed, and the session without a way to its end. Belongs to the owner of the session.
 */
final class OutboundLine {
  private Stream first;
  private Stream last;
  private int length;

  /** Puts a stream at the end, which is not in line. */
  void add(Stream stream) {
    assert stream.previousInLine == null && stream.nextInLine == null && stream != first;
    if (last == null) {
      first = stream;
    } else {
      last.nextInLine = stream;
      stream.previousInLine = last;
    }
    last = stream;
    length++;
  }

  /** The stream whose turn it is, or null. */
  Stream first() {
    return first;
  }

  /** Takes a stream out, if it is in line. */
  void remove(Stream stream) {
    if (stream != first && stream.previousInLine == null) {
      return;
    }
    final Stream before = stream.previousInLine;
    final Stream behind = stream.nextInLine;
    if (before == null) {
      first = behind;
    } else {
      before.nextInLine = behind;
    }
    if (behind == null) {
      last = before;
    } else {
      behind.previousInLine = before;
    }
    stream.previousInLine = null;
    stream.nextInLine = null;
    length--;
  }

  boolean isEmpty() {
    return first == null;
  }

  /** How many streams are in line. */
  int length() {
    return length;
  }
}
