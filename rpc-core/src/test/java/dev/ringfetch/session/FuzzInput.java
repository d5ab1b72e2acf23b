package dev.ringfetch.session;

/** A fuzzer's bytes, read as a program. Behind its end everything is zero. */
final class FuzzInput {
  private final byte[] bytes;
  private int position;

  FuzzInput(byte[] bytes) {
    this.bytes = bytes;
  }

  boolean isAtEnd() {
    return position >= bytes.length;
  }

  int next() {
    return isAtEnd() ? 0 : bytes[position++] & 0xFF;
  }

  int nextShort() {
    return next() | (next() << 8);
  }

  int nextInt() {
    return nextShort() | (nextShort() << 16);
  }

  long nextLong() {
    return (nextInt() & 0xFFFF_FFFFL) | ((long) nextInt() << 32);
  }

  int next(int limit) {
    return next() % limit;
  }

  int choose(int... values) {
    return values[next(values.length)];
  }

  boolean nextBoolean() {
    return (next() & 1) != 0;
  }

  /**
   * A difference from what would be right: mostly none, else small, or around what overflows, or
   * anything.
   */
  long nextError() {
    return switch (next(16)) {
      case 10 -> 1;
      case 11 -> -1;
      case 12 -> next();
      case 13 -> -next();
      case 14 -> 1L << next(64);
      case 15 -> nextLong();
      default -> 0;
    };
  }
}
