package dev.ringfetch.examples.memory;

import dev.ringfetch.memory.Codec;
import java.nio.ByteBuffer;

/**
 * A trade.
 *
 * @param number of the trade, from 1.
 */
record Trade(long number, long instrument, long price, long size) {
  static final Codec<Trade> CODEC =
      new Codec<>() {
        @Override
        public void encode(Trade trade, ByteBuffer buffer) {
          buffer
              .putLong(trade.number)
              .putLong(trade.instrument)
              .putLong(trade.price)
              .putLong(trade.size);
        }

        @Override
        public Trade decode(ByteBuffer buffer) {
          return new Trade(buffer.getLong(), buffer.getLong(), buffer.getLong(), buffer.getLong());
        }
      };

  /** The trade with this number: all fields follow from it. */
  static Trade of(long number, int instruments) {
    return new Trade(number, number % instruments, 10_000 + number % 77, 1 + number % 50);
  }
}
