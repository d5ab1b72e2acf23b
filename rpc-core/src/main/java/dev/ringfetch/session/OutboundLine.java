package dev.ringfetch.session;

import dev.ringfetch.session.owner.OwnedBy;
import org.jspecify.annotations.Nullable;

/**
 * The queue of streams with output, in the order of their turns. It is linked through the streams,
 * each of which is in it at most once: nothing is allocated, so that a lack of memory cannot leave
 * the queue half changed, and the session unable to end.
 */
@OwnedBy("session")
final class OutboundLine {
  private Stream first;
  private Stream last;
  private int length;

  /** Appends a stream that is not in the queue. */
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

  /** The stream that is next. */
  @Nullable Stream first() {
    return first;
  }

  /** Removes a stream, if it is in the queue. */
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

  /** Number of streams in the queue. */
  int length() {
    return length;
  }
}
