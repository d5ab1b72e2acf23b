package dev.ringfetch.session.unit;

/**
 * The layout of units and its constants: the bytes of a request or a response, in sections in the
 * order below. Sections that are known only at the end of a response follow its message and are
 * read from the end, so that a message is marshalled in place.
 *
 * <pre>
 *   request:   [DEADLINE 8 B] [NAMED 2 B length, name] [METADATA 4 B length, block] [message]
 *   response:  [METADATA 4 B length, block] [message]
 *              [DESCRIPTION text, 4 B length] [TRAILERS block, 4 B length]
 *   block:     2 B count, then as often a 4-byte length and its bytes: name, value, name, value ...
 * </pre>
 */
public final class Units {
  /** Longest time that is sent as a deadline: a century. */
  public static final long MAX_TIMEOUT_NS = 100L * 365 * 24 * 3600 * 1_000_000_000L;

  /** Longest description of a status in bytes; the rest is cut off. */
  public static final int MAX_DESCRIPTION_LENGTH = 8192;

  private static final int SLACK = 1024;

  private Units() {}

  /**
   * Longest unit that can hold a message and metadata within these limits: the call checks each of
   * them to the byte.
   */
  public static int maxLength(int maxMessageLength, int maxMetadataLength) {
    final long length =
        (long) maxMessageLength + 2L * maxMetadataLength + MAX_DESCRIPTION_LENGTH + SLACK;
    return (int) Math.min(length, Integer.MAX_VALUE - 1024);
  }

  /** gRPC's description for a message that is too long. */
  public static String tooLong(int maxLength, int length) {
    return "gRPC message exceeds maximum size " + maxLength + ": " + length;
  }
}
