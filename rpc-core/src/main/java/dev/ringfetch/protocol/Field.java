package dev.ringfetch.protocol;

/**
 * A field of a message. A message's class declares each of its fields in one line, through {@link
 * MessageType}.
 *
 * @param <M> type of the message.
 * @param <T> type of the value.
 * @param name in {@code session.proto}.
 * @param number in {@code session.proto}.
 * @param index place of the value in a message.
 * @param type encoding of the values.
 */
public record Field<M extends Message<M>, T>(
    String name, int number, int index, ValueType<T> type) {}
