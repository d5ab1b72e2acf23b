package dev.ringfetch.fabric.shm;

import java.nio.ByteBuffer;
import java.security.SecureRandom;

/**
 * Random name of one offer: proves that a file is the one that was offered, and finds the offer
 * when its peer arrives. Not a secret; that is the token.
 */
record Nonce(long first, long second) {
  static final int LENGTH = 16;

  private static final SecureRandom RANDOM = new SecureRandom();

  static Nonce random() {
    return new Nonce(RANDOM.nextLong(), RANDOM.nextLong());
  }

  /** Another one that is seen to be of the same connection. */
  Nonce beside() {
    return new Nonce(first, RANDOM.nextLong());
  }

  boolean isBeside(Nonce other) {
    return first == other.first;
  }

  static Nonce get(ByteBuffer in) {
    return new Nonce(in.getLong(), in.getLong());
  }

  void put(ByteBuffer out) {
    out.putLong(first).putLong(second);
  }

  /**
   * Written out: on JDK 17 the one that a record has by itself leaves its class in a cache of the
   * JDK's, and with it keeps the class loader.
   */
  @Override
  public boolean equals(Object other) {
    return other instanceof Nonce nonce && first == nonce.first && second == nonce.second;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(first ^ second);
  }
}
