package dev.ringfetch.benchmarks.memory;

import dev.ringfetch.memory.Codec;
import java.nio.ByteBuffer;

/** A value of 32 bytes, as the message of each contender. */
record Sample(long first, long second, long third, long fourth) {
  static final int LENGTH = 4 * Long.BYTES;

  static final Codec<Sample> CODEC =
      new Codec<>() {
        @Override
        public void encode(Sample sample, ByteBuffer buffer) {
          buffer
              .putLong(sample.first)
              .putLong(sample.second)
              .putLong(sample.third)
              .putLong(sample.fourth);
        }

        @Override
        public Sample decode(ByteBuffer buffer) {
          return new Sample(buffer.getLong(), buffer.getLong(), buffer.getLong(), buffer.getLong());
        }
      };

  /** A value of 8 bytes, as a counter has. */
  static final Codec<Long> WORD =
      new Codec<>() {
        @Override
        public void encode(Long word, ByteBuffer buffer) {
          buffer.putLong(word);
        }

        @Override
        public Long decode(ByteBuffer buffer) {
          return buffer.getLong();
        }
      };

  static Sample of(long number) {
    return new Sample(number, number, number, number);
  }
}
