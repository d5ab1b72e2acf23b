package dev.ringfetch.index.call;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.KeyBounds;
import dev.ringfetch.index.layout.ScanCursor;
import dev.ringfetch.index.v1.KeyRange;
import io.grpc.Status;
import io.grpc.StatusException;
import java.nio.ByteBuffer;

/** The ranges of requests: their bounds, and the position at which a scan continues. */
public final class Ranges {
  private static final byte FORWARD = 1;
  private static final byte REVERSE = 2;
  private static final int TOKEN_HEADER = 1 + Long.BYTES;

  private Ranges() {}

  /**
   * Begins a scan.
   *
   * @throws StatusException INVALID_ARGUMENT if a bound is too long
   */
  static ScanCursor cursor(KeyRange range, boolean reverse) throws StatusException {
    RequestLimits.checkRange(range);
    final ByteString start = start(range);
    final ByteString end = end(range);
    return reverse ? ScanCursor.reverse(start, end) : ScanCursor.forward(start, end);
  }

  /**
   * Goes on with a scan.
   *
   * @param token of the page before
   * @param incarnation of the index; 0 if there is none
   * @throws StatusException INVALID_ARGUMENT if the token is none of such a scan, ABORTED if it is
   *     of an index that was dropped
   */
  static ScanCursor cursor(KeyRange range, boolean reverse, ByteString token, long incarnation)
      throws StatusException {
    final ScanCursor begin = cursor(range, reverse);
    if (token.isEmpty()) {
      return begin;
    }
    final int length = token.size() - TOKEN_HEADER;
    if (length < (reverse ? 1 : 0)
        || length > KeyBounds.MAX_LENGTH
        || token.byteAt(0) != (reverse ? REVERSE : FORWARD)) {
      throw Status.INVALID_ARGUMENT
          .withDescription("not a token of a page of such a scan: page_token")
          .asException();
    }
    if (token.asReadOnlyByteBuffer().getLong(1) != incarnation) {
      throw Status.ABORTED
          .withDescription("the index was dropped since the page before: begin again")
          .asException();
    }
    final ByteString place = token.substring(TOKEN_HEADER);
    // Within the range, whatever the token says.
    if (reverse) {
      final ByteString end = end(range);
      return ScanCursor.reverse(
          start(range), end.isEmpty() || KeyBounds.compare(place, end) < 0 ? place : end);
    }
    final ByteString start = start(range);
    return ScanCursor.forward(KeyBounds.compare(place, start) > 0 ? place : start, end(range));
  }

  /** The token of a page behind which a scan goes on from this place, see {@link ScanCursor}. */
  static ByteString token(boolean reverse, ByteString place, long incarnation) {
    final ByteBuffer token = ByteBuffer.allocate(TOKEN_HEADER + place.size());
    token.put(reverse ? REVERSE : FORWARD).putLong(incarnation);
    place.copyTo(token);
    return ByteString.copyFrom(token.flip());
  }

  /** Whether a range is that of all keys. */
  public static boolean isAll(KeyRange range) {
    return range.getStart().isEmpty() && range.getEnd().isEmpty() && range.getPrefix().isEmpty();
  }

  /** The first key of a range. */
  static ByteString start(KeyRange range) {
    return KeyBounds.start(range.getStart(), range.getPrefix());
  }

  /** The first key beyond a range; empty if there is none. */
  static ByteString end(KeyRange range) {
    return KeyBounds.end(range.getEnd(), range.getPrefix());
  }
}
