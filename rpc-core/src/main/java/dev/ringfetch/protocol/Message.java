package dev.ringfetch.protocol;

import java.util.Arrays;
import java.util.StringJoiner;

/**
 * A message of the handshake: the values of its {@link Field}s. Two messages are equal when they
 * are encoded alike. Not thread-safe while values are set; not to be changed once it is sent.
 *
 * @param <M> type of the message.
 */
public abstract class Message<M extends Message<M>> {
  private final Object[] values = new Object[type().fields().size()]; // null: not set

  Message() {}

  /** What fields the message can have. */
  abstract MessageType<M> type();

  /** The value of a field; zero, nothing, or an empty message where it is not set. */
  public final <T> T get(Field<M, T> field) {
    final T value = value(field);
    return value == null ? field.type().absent().get() : value;
  }

  /** True if a field has a value that is on the wire: for most, one that is neither 0 nor empty. */
  public final boolean has(Field<M, ?> field) {
    return values[field.index()] != null;
  }

  /** Sets a field, in place of its value and, where only one field can be set, of the others. */
  public final <T> M set(Field<M, T> field, T value) {
    if (type().isOneof()) {
      Arrays.fill(values, null);
    }
    values[field.index()] = field.type().isAbsent().test(value) ? null : value;
    return self();
  }

  final <T> void decode(Field<M, T> field, Decoder decoder) throws MalformedMessageException {
    set(field, field.type().decoding().decode(decoder, value(field)));
  }

  /** The message in protobuf's encoding. */
  public final byte[] encode() {
    final Encoder encoder = new Encoder();
    for (final Field<M, ?> field : type().fields()) {
      encode(field, encoder);
    }
    return encoder.toByteArray();
  }

  private <T> void encode(Field<M, T> field, Encoder encoder) {
    final T value = value(field);
    if (value != null) {
      field.type().encoding().encode(encoder, field.number(), value);
    }
  }

  @SuppressWarnings("unchecked") // set() puts it there
  private <T> T value(Field<M, T> field) {
    return (T) values[field.index()];
  }

  @SuppressWarnings("unchecked") // each message names itself
  private M self() {
    return (M) this;
  }

  @Override
  public final boolean equals(Object other) {
    return other instanceof Message<?> message
        && message.type() == type()
        && Arrays.deepEquals(message.values, values);
  }

  @Override
  public final int hashCode() {
    return Arrays.deepHashCode(values);
  }

  /** The fields that are set, for people; of bytes the length only. */
  @Override
  public final String toString() {
    final StringJoiner text = new StringJoiner(" ", type().name() + "{", "}");
    for (final Field<M, ?> field : type().fields()) {
      describe(field, text);
    }
    return text.toString();
  }

  private <T> void describe(Field<M, T> field, StringJoiner text) {
    final T value = value(field);
    if (value != null) {
      text.add(field.name() + "=" + field.type().description().apply(value));
    }
  }
}
