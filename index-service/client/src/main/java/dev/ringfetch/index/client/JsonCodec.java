package dev.ringfetch.index.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import java.io.IOException;
import java.util.Objects;

/**
 * The JSON form of a type, in UTF-8, by Jackson, which the application brings: {@code
 * com.fasterxml.jackson.core:jackson-databind}. For values.
 *
 * <p>An application that does not use this class needs no Jackson on its class path. Immutable, as
 * long as nobody changes the mapper; safe for use by many threads.
 */
@SuppressWarnings("exports") // an application that gives a mapper requires Jackson itself
public final class JsonCodec<T> implements Codec<T> {
  private final JavaType type;
  private final ObjectReader reader;
  private final ObjectWriter writer;

  private JsonCodec(ObjectMapper mapper, JavaType type) {
    this.type = type;
    reader = mapper.readerFor(type).with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
    writer = mapper.writerFor(type);
  }

  /** As {@link Codec#json}. */
  static <T> JsonCodec<T> of(Class<T> type) {
    final ObjectMapper mapper =
        JsonMapper.builder()
            .findAndAddModules()
            .enable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
            .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();
    return new JsonCodec<>(mapper, mapper.constructType(type));
  }

  /**
   * A codec with a mapper of the application, for types with parameters, too.
   *
   * @param mapper decides the form: two equal values should have equal bytes, or comparisons of
   *     values in transactions take them for different.
   */
  public static <T> JsonCodec<T> of(ObjectMapper mapper, TypeReference<T> type) {
    return new JsonCodec<>(mapper, mapper.constructType(type));
  }

  @Override
  public ByteString encode(T value) {
    try {
      return UnsafeByteOperations.unsafeWrap(
          writer.writeValueAsBytes(Objects.requireNonNull(value, "value")));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(
          "no JSON of " + type.toCanonical() + ": " + e.getOriginalMessage(), e);
    }
  }

  @Override
  public T decode(ByteString bytes) {
    final T value;
    try {
      value = reader.readValue(bytes.newInput());
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(
          "bytes are no JSON of " + type.toCanonical() + ": " + e.getOriginalMessage(), e);
    } catch (IOException e) { // an array is read
      throw new IllegalStateException(e);
    }
    if (value == null) {
      throw new IllegalArgumentException("bytes are null, not a " + type.toCanonical());
    }
    return value;
  }

  @Override
  public String toString() {
    return "JSON of " + type.toCanonical();
  }
}
