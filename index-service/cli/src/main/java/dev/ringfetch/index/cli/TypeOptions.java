package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import picocli.CommandLine.Option;

/** The options of the types of keys and values. */
final class TypeOptions {
  /** The most bytes of a key. */
  static final int KEY_MAX = 1 << 10;

  /** The most bytes of a value. */
  static final int VALUE_MAX = 1 << 20;

  @Option(
      names = "--key-type",
      order = 61,
      paramLabel = "TYPE",
      defaultValue = "string",
      description = "Type of keys: string, long, uuid, instant, hex.")
  private DataType keyType;

  @Option(
      names = "--value-type",
      order = 62,
      paramLabel = "TYPE",
      defaultValue = "string",
      description = "Type of values: the same.")
  private DataType valueType;

  DataType keyType() {
    return keyType;
  }

  DataType valueType() {
    return valueType;
  }

  /** The bytes of a key on the command line. */
  ByteString key(String text) {
    return parse("key", keyType, text, TypeOptions::checkKey);
  }

  /** The bytes of a value on the command line. */
  ByteString value(String text) {
    return parse("value", valueType, text, TypeOptions::checkValue);
  }

  /** The bytes of a bound of keys, which may be empty. */
  ByteString bound(String option, String text) {
    return parse(option, keyType, text, bytes -> {});
  }

  private interface Check {
    void accept(ByteString bytes);
  }

  private static ByteString parse(String what, DataType type, String text, Check check) {
    try {
      final ByteString bytes = type.parse(text);
      check.accept(bytes);
      return bytes;
    } catch (IllegalArgumentException e) {
      throw CommandFailure.misuse(what + ": " + e.getMessage());
    }
  }

  /** Throws {@link IllegalArgumentException} unless a server takes the key. */
  static void checkKey(ByteString key) {
    if (key.isEmpty()) {
      throw new IllegalArgumentException("the key is empty");
    }
    checkLength("key", key, KEY_MAX);
  }

  /** Throws {@link IllegalArgumentException} unless a server takes the value. */
  static void checkValue(ByteString value) {
    checkLength("value", value, VALUE_MAX);
  }

  private static void checkLength(String what, ByteString bytes, int max) {
    if (bytes.size() > max) {
      throw new IllegalArgumentException(
          "the "
              + what
              + " has "
              + Printable.number(bytes.size())
              + " bytes; at most "
              + Printable.number(max)
              + " are possible");
    }
  }
}
