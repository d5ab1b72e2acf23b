package dev.ringfetch.protocol;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;

/**
 * The fields of a type of message, in the order of their numbers. Fields are declared while the
 * message's class is initialised; after that immutable.
 *
 * @param <M> type of the message.
 */
public final class MessageType<M extends Message<M>> {
  /** Longest message of a handshake in bytes, as gRPC's limit is unless set. */
  public static final int MAX_LENGTH = 4 * 1024 * 1024;

  private final String name;
  private final Supplier<M> constructor;
  private final boolean oneof;
  private final List<Field<M, ?>> fields = new ArrayList<>();

  private MessageType(String name, Supplier<M> constructor, boolean oneof) {
    this.name = name;
    this.constructor = constructor;
    this.oneof = oneof;
  }

  /** A message that can have all of its fields. */
  static <M extends Message<M>> MessageType<M> of(String name, Supplier<M> constructor) {
    return new MessageType<>(name, constructor, false);
  }

  /** A message that has one of its fields at a time. */
  static <M extends Message<M>> MessageType<M> oneOf(String name, Supplier<M> constructor) {
    return new MessageType<>(name, constructor, true);
  }

  Field<M, Integer> uint32(String field, int number) {
    return add(field, number, ValueType.UINT32);
  }

  Field<M, Long> fixed64(String field, int number) {
    return add(field, number, ValueType.FIXED64);
  }

  Field<M, byte[]> bytes(String field, int number) {
    return add(field, number, ValueType.BYTES);
  }

  Field<M, String> string(String field, int number) {
    return add(field, number, ValueType.TEXT);
  }

  <N extends Message<N>> Field<M, N> message(String field, int number, MessageType<N> type) {
    return add(field, number, ValueType.message(type));
  }

  Field<M, List<String>> strings(String field, int number, int max) {
    return add(field, number, ValueType.list(field, ValueType.TEXT, max));
  }

  <N extends Message<N>> Field<M, List<N>> messages(
      String field, int number, MessageType<N> type, int max) {
    return add(field, number, ValueType.list(field, ValueType.message(type), max));
  }

  private <T> Field<M, T> add(String field, int number, ValueType<T> type) {
    if (!fields.isEmpty() && fields.get(fields.size() - 1).number() >= number) {
      throw new IllegalArgumentException(name + "." + field + " is not in order");
    }
    final Field<M, T> added = new Field<>(field, number, fields.size(), type);
    fields.add(added);
    return added;
  }

  /** Name in {@code session.proto}. */
  public String name() {
    return name;
  }

  /** The fields, in the order of their numbers. */
  public List<Field<M, ?>> fields() {
    return Collections.unmodifiableList(fields);
  }

  /** True if the fields exclude each other. */
  boolean isOneof() {
    return oneof;
  }

  /** A message without a value. */
  M create() {
    return constructor.get();
  }

  /**
   * Decodes a message. Fields that this version does not know are skipped.
   *
   * @throws MalformedMessageException when the bytes are none, or of one that is too long.
   */
  public M parse(byte[] encoded) throws MalformedMessageException {
    if (encoded.length > MAX_LENGTH) {
      throw new MalformedMessageException(
          name + " is too long: length=" + encoded.length + " max=" + MAX_LENGTH);
    }
    final M message = create();
    decode(new Decoder(encoded), message);
    return message;
  }

  void decode(Decoder decoder, M message) throws MalformedMessageException {
    while (decoder.hasMore()) {
      final int tag = decoder.varint();
      final int number = tag >>> 3;
      final int form = tag & 7;
      if (number == 0) {
        throw new MalformedMessageException(name + " has a field without a number");
      }
      final Field<M, ?> field = find(number);
      if (field == null || field.type().form() != form) { // the latter is of another version, too
        decoder.skip(form);
      } else {
        message.decode(field, decoder);
      }
    }
  }

  private Field<M, ?> find(int number) {
    for (final Field<M, ?> field : fields) {
      if (field.number() == number) {
        return field;
      }
    }
    return null;
  }
}
