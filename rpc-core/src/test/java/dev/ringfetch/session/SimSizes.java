package dev.ringfetch.session;

import dev.ringfetch.session.unit.UnitBuffer;
import java.util.SplittableRandom;

/**
 * Sizes of one simulation, in bytes where not said otherwise.
 *
 * @param maxInboundLength longest message that the server takes.
 * @param maxHeldLength what it holds for a session.
 * @param clients how many processes call.
 * @param spinNs how long a thread polls before it sleeps, in nanoseconds.
 * @param bulkThreshold messages that are longer go by registered memory.
 * @param bulkLength how much of that a side has for a session.
 * @param bulkSegmentLength what of it is read at a time.
 * @param turnNs length of turns, which all clients behind cards take, in nanoseconds; 0 for none.
 * @param deadlines whether some calls have one.
 * @param cancels whether some calls are cancelled.
 */
record SimSizes(
    int ringLength,
    int maxFrameLength,
    int maxStreams,
    int maxInboundLength,
    long maxHeldLength,
    int clients,
    long spinNs,
    int bulkThreshold,
    int bulkLength,
    int bulkSegmentLength,
    int turnNs,
    boolean deadlines,
    boolean cancels) {
  private static final int ROOMY = 1024 * 1024;

  static SimSizes draw(SplittableRandom random) {
    final int ring = 128 << random.nextInt(6);
    return new SimSizes(
        ring,
        64 * (1 + random.nextInt(ring / 64)),
        1 + random.nextInt(12),
        random.nextInt(4) == 0 ? ring : ROOMY,
        random.nextInt(4) == 0 ? 2L * UnitBuffer.RETAINED_LENGTH : ROOMY,
        1 + random.nextInt(3),
        random.nextInt(3) * 400L,
        random.nextInt(6) == 0 ? Integer.MAX_VALUE : random.nextInt(2 * ring),
        random.nextInt(6) == 0 ? 0 : 16 * 1024 * (1 + random.nextInt(3)),
        64 << random.nextInt(7),
        random.nextInt(2) * (2_000 << random.nextInt(4)),
        random.nextBoolean(),
        random.nextBoolean());
  }

  /** Length of a message: mostly short, seldom longer than the ring. */
  int drawLength(SplittableRandom random) {
    return switch (random.nextInt(12)) {
      case 0 -> random.nextInt(4 * ringLength);
      case 1, 2, 3 -> random.nextInt(maxFrameLength);
      default -> random.nextInt(60);
    };
  }

  /** True when a message of about a window's length may be sent, and is little work. */
  boolean takesLongMessages() {
    return maxInboundLength == ROOMY && !isTight() && bulkLength > 0 && bulkThreshold <= ringLength;
  }

  /** True when two long requests may be more than the server holds for a client. */
  boolean isTight() {
    return maxHeldLength < ROOMY;
  }
}
