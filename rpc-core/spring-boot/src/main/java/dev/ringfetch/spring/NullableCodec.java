package dev.ringfetch.spring;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.Codec;
import org.springframework.cache.support.NullValue;

/** The translation of a cache's values, of which an empty one stands for null. */
record NullableCodec(Codec<Object> values) implements Codec<Object> {
  @Override
  public ByteString encode(Object value) {
    if (value == NullValue.INSTANCE) {
      return ByteString.EMPTY;
    }
    final ByteString bytes = values.encode(value);
    if (bytes.isEmpty()) {
      throw new IllegalArgumentException(
          values + " makes no bytes of " + value + ", which stands for null: nullValues(false)");
    }
    return bytes;
  }

  @Override
  public Object decode(ByteString bytes) {
    return bytes.isEmpty() ? NullValue.INSTANCE : values.decode(bytes);
  }
}
