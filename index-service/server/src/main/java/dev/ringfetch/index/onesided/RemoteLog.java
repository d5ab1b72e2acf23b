package dev.ringfetch.index.onesided;

/**
 * The log memory of a member and its gate, as the leader of one epoch reaches them. Requests are
 * carried out in the order in which they are made, at once, or later, but not later than the next
 * look's result; what is refused, or fails, ends the connection. No method waits for longer than
 * some microseconds.
 *
 * <p>The leader's replica's owner only.
 */
public interface RemoteLog extends AutoCloseable {
  /** Name of the fabric. */
  String fabric();

  /** Length of the ring in bytes. */
  int length();

  /** Writes the position before the first record. */
  void begin(long position);

  /** Whether records may be written now; if not, there is room when the next look has ended. */
  boolean mayWrite();

  /** Writes records, or a part of them, to the ring. */
  void write(int offset, byte[] bytes, int start, int length);

  /** Writes how many bytes stand in the ring, behind them, and the position of the commit. */
  void publish(long end, long commit);

  /**
   * Reads the gate behind all that was written before.
   *
   * @param room whether what the member has taken is read as well
   */
  void look(boolean room);

  /** Whether the last look has no result yet. */
  boolean isLooking();

  /** The gate's word, as the last look found it. */
  long gate();

  /** Bytes that the member has taken, as the last look found them that was to; 0 before. */
  long consumed();

  /** Whether nothing can be written or read any more. */
  boolean hasEnded();

  /** Ends the connection. Idempotent. */
  @Override
  void close();
}
