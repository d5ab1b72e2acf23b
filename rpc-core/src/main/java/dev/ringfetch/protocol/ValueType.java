package dev.ringfetch.protocol;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The encoding of one type of values.
 *
 * @param form the encoding, as a tag calls it.
 * @param absent creates the value of a message that does not set the field.
 * @param isAbsent true if a value is encoded as no value is.
 * @param encoding appends tag and value.
 * @param decoding takes a value behind its tag.
 * @param description the value as a log may show it.
 */
record ValueType<T>(
    int form,
    Supplier<T> absent,
    Predicate<T> isAbsent,
    Encoding<T> encoding,
    Decoding<T> decoding,
    Function<T, String> description) {
  static final ValueType<Integer> UINT32 =
      new ValueType<>(
          Decoder.VARINT,
          () -> 0,
          value -> value == 0,
          (encoder, number, value) -> encoder.tag(number, Decoder.VARINT).varint(value),
          (decoder, before) -> decoder.varint(),
          Integer::toUnsignedString);

  static final ValueType<Long> FIXED64 =
      new ValueType<>(
          Decoder.FIXED64,
          () -> 0L,
          value -> value == 0,
          (encoder, number, value) -> encoder.tag(number, Decoder.FIXED64).fixed64(value),
          (decoder, before) -> decoder.fixed64(),
          Object::toString);

  private static final byte[] NO_BYTES = {};

  /** Described by the length alone: the bytes may be a token. */
  static final ValueType<byte[]> BYTES =
      new ValueType<>(
          Decoder.BYTES,
          () -> NO_BYTES,
          value -> value.length == 0,
          (encoder, number, value) -> encoder.tag(number, Decoder.BYTES).bytes(value),
          (decoder, before) -> decoder.bytes(),
          value -> value.length + " bytes");

  static final ValueType<String> TEXT =
      new ValueType<>(
          Decoder.BYTES,
          () -> "",
          String::isEmpty,
          (encoder, number, value) ->
              BYTES.encoding.encode(encoder, number, value.getBytes(StandardCharsets.UTF_8)),
          (decoder, before) -> decoder.string(),
          Function.identity());

  /**
   * A message within a message. One that comes in parts is put together, as protobuf does; one
   * without a value is not the same as none.
   */
  static <N extends Message<N>> ValueType<N> message(MessageType<N> type) {
    return new ValueType<>(
        Decoder.BYTES,
        type::create,
        value -> false,
        (encoder, number, value) -> BYTES.encoding.encode(encoder, number, value.encode()),
        (decoder, before) -> {
          final N value = before == null ? type.create() : before;
          type.decode(new Decoder(decoder.bytes()), value);
          return value;
        },
        Object::toString);
  }

  /** As many values as there are tags, up to a limit: each costs more here than on the wire. */
  static <E> ValueType<List<E>> list(String name, ValueType<E> element, int max) {
    return new ValueType<>(
        element.form,
        List::of,
        List::isEmpty,
        (encoder, number, values) ->
            values.forEach(value -> element.encoding.encode(encoder, number, value)),
        (decoder, before) -> {
          final List<E> values = before == null ? new ArrayList<>() : before;
          if (values.size() == max) {
            throw new MalformedMessageException(name + " has more values than max=" + max);
          }
          values.add(element.decoding.decode(decoder, null));
          return values;
        },
        Object::toString);
  }

  /** The way to append tag and value. */
  interface Encoding<T> {
    void encode(Encoder encoder, int number, T value);
  }

  /** The way to take a value behind its tag. */
  interface Decoding<T> {
    /**
     * Takes a value.
     *
     * @param before value from the same message, or null: a field may come several times.
     */
    T decode(Decoder decoder, T before) throws MalformedMessageException;
  }
}
