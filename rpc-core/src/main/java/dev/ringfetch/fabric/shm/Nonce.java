package dev.ringfetch.fabric.shm;

import java.nio.ByteBuffer;
import java.security.SecureRandom;

/**
 * The random name of one offer: proves that a file is the one that was offered, and identifies the
 * offer when its peer arrives. It is not a secret; the token is.
 */
record Nonce(long first, long second) {
  static final int LENGTH = 16;

  private static final SecureRandom RANDOM = new SecureRandom();

  static Nonce random() {
    return new Nonce(RANDOM.nextLong(), RANDOM.nextLong());
  }

  /** Returns another nonce that is recognisably of the same connection. */
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
   * Written out, because on JDK 17 a record's default implementation leaves the class in a cache of
   * the JDK, which keeps the class loader.
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
