package dev.ringfetch.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.ByteBuffer;

/** Values of words that are all the same: a mixture of two shows. */
record Words(long word, int count) {
  static final Codec<Words> CODEC =
      new Codec<>() {
        @Override
        public void encode(Words value, ByteBuffer buffer) {
          for (int i = 0; i < value.count; i++) {
            buffer.putLong(value.word);
          }
        }

        @Override
        public Words decode(ByteBuffer buffer) {
          final int count = buffer.remaining() / Long.BYTES;
          final long word = count == 0 ? 0 : buffer.getLong();
          for (int i = 1; i < count; i++) {
            assertEquals(word, buffer.getLong(), "torn");
          }
          return new Words(word, count);
        }
      };

  /** The length of these words changes with the word. */
  static Words of(long word, int maxCount) {
    return new Words(word, 1 + (int) Math.floorMod(word * 31, (long) maxCount));
  }

  /** Checks that the length fits the word, too. */
  void check(int maxCount) {
    assertEquals(of(word, maxCount), this);
  }
}
