package dev.ringfetch.session;

import static dev.ringfetch.ring.FrameDescriptor.MESSAGE;
import static dev.ringfetch.ring.FrameDescriptor.PREFIX;
import static dev.ringfetch.ring.FrameDescriptor.SUFFIX;

import dev.ringfetch.session.bulk.MemoryQuota;
import dev.ringfetch.session.owner.OwnedBy;
import dev.ringfetch.session.unit.Unit;
import dev.ringfetch.session.unit.UnitBuffer;
import java.util.function.LongSupplier;

/**
 * The limit of the memory that a client occupies at its server: bytes of long requests and of
 * streams' messages, and cancelled calls that have not been released. The bytes beyond {@link
 * #FREE_LENGTH} also count in the budget that the server's sessions share (ADR 53).
 */
@OwnedBy("session")
final class HeldBytes {
  /** A client with few streams may cancel and call again before handlers learn of the cancel. */
  private static final int MIN_ABANDONED = 64;

  /** Bytes that do not count in the budget: few short messages touch no shared counter. */
  static final int FREE_LENGTH = Flow.WINDOW_LENGTH;

  /** The share of a session is a multiple of this, in bytes. */
  static final int STEP_LENGTH = 32 * 1024;

  private final long maxLength;
  private final int maxAbandoned;
  private final MemoryQuota budget;

  private long length;
  private long share; // of the budget
  private volatile boolean tight; // written by the owner
  private int abandoned;

  /**
   * Creates the count, at zero.
   *
   * @param maxStreams calls that may be under way.
   */
  HeldBytes(SessionContext context, int maxStreams) {
    this.maxLength = context.maxHeldLength();
    this.budget = context.messageQuota();
    this.maxAbandoned = Math.max(MIN_ABANDONED, maxStreams);
  }

  /** Bytes that are occupied. */
  long length() {
    return length;
  }

  /** Cancelled calls that have not been released. */
  int abandoned() {
    return abandoned;
  }

  /** True when so many cancelled calls still run that no other may begin. */
  boolean isCrowded() {
    return abandoned >= maxAbandoned;
  }

  /**
   * Counts a unit from its first frame on: a request of a unary call, if it is long, until the end
   * of the call; a stream's message until the call has consumed it; a unit without a message until
   * the end of the stream, since its consumption is not reported. False when it exceeds the limit,
   * or is long and exceeds the budget.
   */
  boolean add(ServerStream stream) {
    final int total = stream.incoming.total();
    final long bytes = cost(stream.incoming.flags(), total);
    if (length + bytes > maxLength || !(reserve(bytes) || total <= UnitBuffer.RETAINED_LENGTH)) {
      return false;
    }
    stream.heldLength += bytes;
    length += bytes;
    return true;
  }

  /** The reason why {@link #add} has not counted a unit of so many bytes. */
  String refusal(int total) {
    return length + total > maxLength
        ? "session holds too much: length=" + length + " limit=" + maxLength
        : "messageBudget of the server is used up, and the rest of another long message is behind"
            + " this one: length="
            + total;
  }

  private static long cost(int flags, int total) {
    final boolean unary = (flags & (PREFIX | SUFFIX)) == (PREFIX | SUFFIX);
    return !unary && (flags & MESSAGE) != 0
        ? Unit.cost(flags, total)
        : total > UnitBuffer.RETAINED_LENGTH ? total : 0;
  }

  /**
   * Takes bytes out of the budget for the unit that a frame begins. False when there is no room for
   * it; true also when {@link #add} will not count it, because it exceeds the limit.
   *
   * @param unreported returns the bytes that calls have consumed and not reported, which counts as
   *     the report.
   */
  boolean cover(int flags, int total, LongSupplier unreported) {
    final long bytes = cost(flags, total);
    if (bytes <= 0 || length + bytes > maxLength || shareOf(length + bytes) <= share) {
      return true;
    }
    tight = true; // first: bytes that a call consumes from here on are reported
    length -= unreported.getAsLong();
    giveBack();
    final boolean covered = reserve(bytes);
    tight = share > 0 || !covered;
    return covered;
  }

  private boolean reserve(long bytes) {
    final long missing = shareOf(length + bytes) - share;
    if (missing > 0) {
      if (!budget.reserveShare(missing, share)) {
        return false;
      }
      share += missing;
    }
    return true;
  }

  /**
   * True while the session has a share of the budget, or waits for one: calls then report each
   * message that they have consumed, since others may wait for its bytes. Any thread.
   */
  boolean isTight() {
    return tight;
  }

  /** Gives back to the budget what the bytes do not need. */
  void settle() {
    giveBack();
    if (tight && share == 0) {
      tight = false;
    }
  }

  private void giveBack() {
    final long spare = share - shareOf(length);
    if (spare > 0) {
      share -= spare;
      budget.release(spare);
    }
  }

  private static long shareOf(long length) {
    return Math.max(0, length - FREE_LENGTH + STEP_LENGTH - 1) / STEP_LENGTH * STEP_LENGTH;
  }

  /** Subtracts messages that the call of a flow has consumed. */
  void consumed(long bytes) {
    length -= bytes;
    settle();
  }

  /** Subtracts a stream's inbound units, which will not be read. */
  void release(ServerStream stream) {
    length -= stream.heldLength;
    stream.heldLength = 0;
    if (stream.flow != null) {
      length -= stream.flow.heldLength();
    }
    settle();
  }

  /**
   * Counts a cancelled call while user code still uses it: otherwise a client that cancels at once
   * could make more handlers run than it may have calls under way.
   */
  void abandon(ServerStream stream) {
    stream.abandoned = true;
    abandoned++;
  }

  /** Subtracts a cancelled call that has been released. */
  void letGo(ServerStream stream) {
    stream.abandoned = false;
    abandoned--;
    release(stream);
  }
}
