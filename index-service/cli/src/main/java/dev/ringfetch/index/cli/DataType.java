package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.Codec;
import dev.ringfetch.index.client.OrderedCodec;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

/** The types of keys and values on the command line, and their texts. */
enum DataType {
  STRING(Codec.string(), Function.identity(), Function.identity()),
  LONG(Codec.int64(), DataType::parseLong, Object::toString),
  UUID(Codec.uuid(), DataType::parseUuid, Object::toString),
  INSTANT(Codec.instant(), DataType::parseInstant, Object::toString),
  HEX(Codec.byteString(), DataType::parseHex, DataType::hex);

  @SuppressWarnings("ImmutableEnumChecker") // codecs and functions, which have no state
  private final Form<?> form;

  /** The two translations of a type: to bytes, and to text. */
  private record Form<T>(
      OrderedCodec<T> codec, Function<String, T> parser, Function<T, String> printer) {
    ByteString parse(String text) {
      return codec.encode(parser.apply(text));
    }

    Optional<String> print(ByteString bytes) {
      try {
        final T value = codec.decode(bytes);
        return codec.encode(value).equals(bytes)
            ? Optional.of(printer.apply(value))
            : Optional.empty();
      } catch (IllegalArgumentException e) {
        return Optional.empty();
      }
    }
  }

  <T> DataType(OrderedCodec<T> codec, Function<String, T> parser, Function<T, String> printer) {
    this.form = new Form<>(codec, parser, printer);
  }

  /**
   * The bytes of a text.
   *
   * @throws IllegalArgumentException if the text is not of this type.
   */
  ByteString parse(String text) {
    return form.parse(text);
  }

  /** The text that {@link #parse} translates to these bytes; empty if there is none. */
  Optional<String> print(ByteString bytes) {
    return form.print(bytes);
  }

  /** The text of these bytes for display: hex digits if they are not of this type. */
  String show(ByteString bytes) {
    return print(bytes).orElseGet(() -> "0x" + hex(bytes));
  }

  /** Whether keys that begin with the same text begin with the same bytes. */
  boolean hasPrefixes() {
    return this == STRING || this == HEX;
  }

  /** The name on the command line. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }

  private static Long parseLong(String text) {
    try {
      return Long.valueOf(text);
    } catch (NumberFormatException e) {
      throw none(text, "long: a whole number of 64 bits");
    }
  }

  private static java.util.UUID parseUuid(String text) {
    try {
      final java.util.UUID uuid = java.util.UUID.fromString(text);
      if (uuid.toString().equalsIgnoreCase(text)) {
        return uuid;
      }
    } catch (IllegalArgumentException e) {
      // As below.
    }
    throw none(text, "uuid, such as 123e4567-e89b-12d3-a456-426614174000");
  }

  static Instant parseInstant(String text) {
    try {
      return Instant.parse(text);
    } catch (DateTimeException e) {
      throw none(text, "instant, such as 2026-11-27T08:30:00Z");
    }
  }

  private static ByteString parseHex(String text) {
    try {
      final String digits = text.startsWith("0x") ? text.substring(2) : text;
      return ByteString.copyFrom(HexFormat.of().parseHex(digits));
    } catch (IllegalArgumentException e) {
      throw none(text, "hex: pairs of hexadecimal digits, such as 00ff");
    }
  }

  private static String hex(ByteString bytes) {
    return HexFormat.of().formatHex(bytes.toByteArray());
  }

  private static IllegalArgumentException none(String text, String type) {
    return new IllegalArgumentException("'" + Printable.shorten(text) + "' is no " + type);
  }
}
