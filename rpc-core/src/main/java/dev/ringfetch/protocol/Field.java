package dev.ringfetch.protocol;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A field of a message: its name, its number and its encoding. A message's class declares each of
 * its fields in one line, through {@link MessageType}.
 *
 * @param <M> type of the message.
 * @param <T> type of the value.
 */
public abstract class Field<M extends Message<M>, T> {
  private final String name;
  private final int number;
  private final int index;
  private final int form;

  Field(String name, int number, int index, int form) {
    this.name = name;
    this.number = number;
    this.index = index;
    this.form = form;
  }

  /** Name in {@code session.proto}. */
  public final String name() {
    return name;
  }

  /** Number in {@code session.proto}. */
  public final int number() {
    return number;
  }

  /** Place of the value in a message. */
  final int index() {
    return index;
  }

  /** What a tag calls the encoding. */
  final int form() {
    return form;
  }

  /** The value of a message that does not set the field. */
  abstract T absent();

  /** True if a value is encoded as no value is. */
  boolean isAbsent(T value) {
    return value.equals(absent());
  }

  /** Appends tag and value. */
  abstract void encode(T value, Encoder encoder);

  /**
   * Takes a value behind its tag.
   *
   * @param before value from the same message, or null: a field may come several times.
   */
  abstract T decode(Decoder decoder, T before) throws MalformedMessageException;

  /** The value as a log may show it. */
  String describe(T value) {
    return value.toString();
  }

  static final class Uint32<M extends Message<M>> extends Field<M, Integer> {
    Uint32(String name, int number, int index) {
      super(name, number, index, Decoder.VARINT);
    }

    @Override
    Integer absent() {
      return 0;
    }

    @Override
    void encode(Integer value, Encoder encoder) {
      encoder.tag(number(), form());
      encoder.varint(value);
    }

    @Override
    Integer decode(Decoder decoder, Integer before) throws MalformedMessageException {
      return decoder.varint();
    }

    @Override
    String describe(Integer value) {
      return Integer.toUnsignedString(value);
    }
  }

  static final class Fixed64<M extends Message<M>> extends Field<M, Long> {
    Fixed64(String name, int number, int index) {
      super(name, number, index, Decoder.FIXED64);
    }

    @Override
    Long absent() {
      return 0L;
    }

    @Override
    void encode(Long value, Encoder encoder) {
      encoder.tag(number(), form());
      encoder.fixed64(value);
    }

    @Override
    Long decode(Decoder decoder, Long before) throws MalformedMessageException {
      return decoder.fixed64();
    }
  }

  static final class Bytes<M extends Message<M>> extends Field<M, byte[]> {
    private static final byte[] NONE = {};

    Bytes(String name, int number, int index) {
      super(name, number, index, Decoder.BYTES);
    }

    @Override
    byte[] absent() {
      return NONE;
    }

    @Override
    boolean isAbsent(byte[] value) {
      return value.length == 0;
    }

    @Override
    void encode(byte[] value, Encoder encoder) {
      encoder.tag(number(), form());
      encoder.bytes(value);
    }

    @Override
    byte[] decode(Decoder decoder, byte[] before) throws MalformedMessageException {
      return decoder.bytes();
    }

    /** Not the bytes: they may be a token. */
    @Override
    String describe(byte[] value) {
      return value.length + " bytes";
    }
  }

  static final class Text<M extends Message<M>> extends Field<M, String> {
    Text(String name, int number, int index) {
      super(name, number, index, Decoder.BYTES);
    }

    @Override
    String absent() {
      return "";
    }

    @Override
    void encode(String value, Encoder encoder) {
      encoder.tag(number(), form());
      encoder.bytes(value.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    String decode(Decoder decoder, String before) throws MalformedMessageException {
      return decoder.string();
    }
  }

  /** A message within a message. One that comes in parts is put together, as protobuf does. */
  static final class Nested<M extends Message<M>, N extends Message<N>> extends Field<M, N> {
    private final MessageType<N> type;

    Nested(String name, int number, int index, MessageType<N> type) {
      super(name, number, index, Decoder.BYTES);
      this.type = type;
    }

    @Override
    N absent() {
      return type.create();
    }

    /** One without a value is not the same as none. */
    @Override
    boolean isAbsent(N value) {
      return false;
    }

    @Override
    void encode(N value, Encoder encoder) {
      encoder.tag(number(), form());
      encoder.bytes(value.encode());
    }

    @Override
    N decode(Decoder decoder, N before) throws MalformedMessageException {
      final N value = before == null ? type.create() : before;
      type.decode(new Decoder(decoder.bytes()), value);
      return value;
    }
  }

  /** As many values as there are tags, up to a limit: each costs more here than on the wire. */
  static final class Repeated<M extends Message<M>, E> extends Field<M, List<E>> {
    private final Field<M, E> element;
    private final int max;

    Repeated(Field<M, E> element, int max) {
      super(element.name, element.number, element.index, element.form);
      this.element = element;
      this.max = max;
    }

    @Override
    List<E> absent() {
      return List.of();
    }

    @Override
    void encode(List<E> values, Encoder encoder) {
      for (final E value : values) {
        element.encode(value, encoder);
      }
    }

    @Override
    List<E> decode(Decoder decoder, List<E> before) throws MalformedMessageException {
      final List<E> values = before == null ? new ArrayList<>() : before;
      if (values.size() == max) {
        throw new MalformedMessageException(name() + " has more values than max=" + max);
      }
      values.add(element.decode(decoder, null));
      return values;
    }
  }
}
