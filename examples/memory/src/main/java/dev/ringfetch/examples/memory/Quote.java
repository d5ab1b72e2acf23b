package dev.ringfetch.examples.memory;

import dev.ringfetch.memory.Codec;
import java.nio.ByteBuffer;

/**
 * A quote of one instrument. All fields follow from instrument and number, so that a reader can
 * tell whether a quote is whole.
 *
 * @param number of the quote among those of its instrument, from 1.
 */
record Quote(
    long instrument, long number, long bid, long ask, long bidSize, long askSize, long timeNs) {
  /** The longest quote, in bytes. */
  static final int LENGTH = 7 * Long.BYTES;

  static final Codec<Quote> CODEC =
      new Codec<>() {
        @Override
        public void encode(Quote quote, ByteBuffer buffer) {
          buffer
              .putLong(quote.instrument)
              .putLong(quote.number)
              .putLong(quote.bid)
              .putLong(quote.ask)
              .putLong(quote.bidSize)
              .putLong(quote.askSize)
              .putLong(quote.timeNs);
        }

        @Override
        public Quote decode(ByteBuffer buffer) {
          return new Quote(
              buffer.getLong(),
              buffer.getLong(),
              buffer.getLong(),
              buffer.getLong(),
              buffer.getLong(),
              buffer.getLong(),
              buffer.getLong());
        }
      };

  /** The quote with this number. */
  static Quote of(long instrument, long number, long timeNs) {
    final long bid = 10_000 * (instrument + 1) + number * 7 % 1000;
    return new Quote(
        instrument, number, bid, bid + 1 + number % 3, 100 + number % 900, 100 + bid % 700, timeNs);
  }

  /** Whether all fields belong to one quote of this instrument. */
  boolean isWhole(long expectedInstrument) {
    return equals(of(expectedInstrument, number, timeNs));
  }
}
