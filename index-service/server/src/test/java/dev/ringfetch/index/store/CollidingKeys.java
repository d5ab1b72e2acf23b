package dev.ringfetch.index.store;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.KeyHash;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Keys of 16 bytes that a client with the seed has chosen: all have one hash. */
public final class CollidingKeys {
  private static final long PRIME_1 = 0x9E3779B185EBCA87L;
  private static final long PRIME_2 = 0xC2B2AE3D27D4EB4FL;
  private static final long PRIME_4 = 0x85EBCA77C2B2AE63L;
  private static final long PRIME_5 = 0x27D4EB2F165667C5L;

  private CollidingKeys() {}

  /**
   * The key of a number. The second lane of XXH64 makes up for what the first one, the number, has
   * changed.
   */
  public static ByteString key(long number, long seed) {
    final long wanted = afterFirstLane(0, seed);
    final long lane = inverseRound(afterFirstLane(number, seed) ^ wanted);
    final byte[] key =
        ByteBuffer.allocate(16)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putLong(number)
            .putLong(lane)
            .array();
    if (number != 0
        && KeyHash.of(key, 0, 16, seed) != KeyHash.of(key(0, seed).toByteArray(), 0, 16, seed)) {
      throw new AssertionError("number=" + number);
    }
    return ByteString.copyFrom(key);
  }

  private static long afterFirstLane(long lane, long seed) {
    final long hash = seed + PRIME_5 + 16;
    return Long.rotateLeft(hash ^ round(lane), 27) * PRIME_1 + PRIME_4;
  }

  private static long round(long lane) {
    return Long.rotateLeft(lane * PRIME_2, 31) * PRIME_1;
  }

  private static long inverseRound(long value) {
    return Long.rotateRight(value * inverse(PRIME_1), 31) * inverse(PRIME_2);
  }

  /** The number with which an odd number makes 1, by Newton's iteration. */
  private static long inverse(long odd) {
    long inverse = odd;
    for (int i = 0; i < 6; i++) {
      inverse *= 2 - odd * inverse;
    }
    return inverse;
  }
}
