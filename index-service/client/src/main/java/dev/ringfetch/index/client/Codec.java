package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import java.time.Instant;
import java.util.UUID;

/**
 * The translation of a type to bytes and back. Equal objects have equal bytes, if they are keys.
 *
 * <p>A codec is safe for use by many threads. It throws {@link IllegalArgumentException} for what
 * it cannot translate. The factories return codecs of the usual types; those that keep an order are
 * {@link OrderedCodec}s.
 *
 * @param <T> the type.
 */
public interface Codec<T> {
  /** Translates to bytes, which nothing changes afterwards. */
  ByteString encode(T value);

  /** Translates back. */
  T decode(ByteString bytes);

  /**
   * A string as UTF-8, in the order of its code points. That is not the order of {@link
   * String#compareTo}, which takes characters beyond U+FFFF as smaller than U+E000 to U+FFFF.
   * Strings with unpaired surrogates have no UTF-8 form and are refused.
   */
  static OrderedCodec<String> string() {
    return BasicCodecs.STRING;
  }

  /** A long in 8 bytes, in the order of the numbers: big endian, with the sign bit flipped. */
  static OrderedCodec<Long> int64() {
    return BasicCodecs.INT64;
  }

  /** A UUID in 16 bytes, in the order of its text, which is not that of {@link UUID#compareTo}. */
  static OrderedCodec<UUID> uuid() {
    return BasicCodecs.UUID_BYTES;
  }

  /** An instant in 12 bytes, in the order of time: seconds as {@link #int64}, nanoseconds. */
  static OrderedCodec<Instant> instant() {
    return BasicCodecs.INSTANT;
  }

  /** An array of bytes, in the order of unsigned bytes. The array is copied both ways. */
  static OrderedCodec<byte[]> bytes() {
    return BasicCodecs.BYTES;
  }

  /** Bytes as they are, in the order of unsigned bytes; without a copy. */
  static OrderedCodec<ByteString> byteString() {
    return BasicCodecs.BYTE_STRING;
  }

  /**
   * A protobuf message. For values: two equal messages may have different bytes, so as keys they
   * would be two.
   *
   * @param prototype any message of the type, {@code getDefaultInstance()} for example.
   */
  static <M extends Message> Codec<M> message(M prototype) {
    return new Codec<>() {
      @Override
      public ByteString encode(M message) {
        return message.toByteString();
      }

      @Override
      @SuppressWarnings("unchecked") // the parser of a type makes messages of it
      public M decode(ByteString bytes) {
        try {
          return (M) prototype.getParserForType().parseFrom(bytes);
        } catch (InvalidProtocolBufferException e) {
          throw new IllegalArgumentException(
              "bytes are no "
                  + prototype.getDescriptorForType().getFullName()
                  + ": "
                  + e.getMessage(),
              e);
        }
      }

      @Override
      public String toString() {
        return "message " + prototype.getDescriptorForType().getFullName();
      }
    };
  }

  /**
   * The JSON form of a type, in UTF-8: for values. Needs {@code jackson-databind} on the class
   * path, and its modules for types of {@code java.time}, for example. Properties and maps are in
   * the order of their names; properties that the type does not have are ignored. {@link JsonCodec}
   * has a codec with a mapper of the application.
   */
  static <T> Codec<T> json(Class<T> type) {
    return JsonCodec.of(type);
  }

  /** A key of two components, in the order of the first, then of the second. */
  static <A, B> PairCodec<A, B> pair(OrderedCodec<A> first, OrderedCodec<B> second) {
    return new PairCodec<>(first, second);
  }

  /**
   * A key of three components, in the order of the first, then of the second, then of the third.
   */
  static <A, B, C> TripleCodec<A, B, C> triple(
      OrderedCodec<A> first, OrderedCodec<B> second, OrderedCodec<C> third) {
    return new TripleCodec<>(first, second, third);
  }
}
