package dev.ringfetch.examples.dataflow;

import java.nio.charset.StandardCharsets;
import java.util.List;

/** A column of a table. */
final class Column {
  private final String name;
  private final Kind kind;
  private final long[] numbers; // those of doubles as their bits; null for texts
  private final byte[][] texts; // in UTF-8; null for numbers

  private Column(String name, Kind kind, long[] numbers, byte[][] texts) {
    this.name = name;
    this.kind = kind;
    this.numbers = numbers;
    this.texts = texts;
  }

  /** The kinds of values. */
  enum Kind {
    LONG,
    DOUBLE,
    TEXT
  }

  static Column ofLongs(String name, List<Long> values) {
    return new Column(name, Kind.LONG, values.stream().mapToLong(Long::longValue).toArray(), null);
  }

  static Column ofDoubles(String name, List<Double> values) {
    return new Column(
        name, Kind.DOUBLE, values.stream().mapToLong(Double::doubleToLongBits).toArray(), null);
  }

  static Column ofTexts(String name, List<String> values) {
    return new Column(
        name,
        Kind.TEXT,
        null,
        values.stream()
            .map(value -> value.getBytes(StandardCharsets.UTF_8))
            .toArray(byte[][]::new));
  }

  String name() {
    return name;
  }

  Kind kind() {
    return kind;
  }

  /** Returns the number of a row; that of a double as its bits. */
  long number(int row) {
    return numbers[row];
  }

  /** Returns the text of a row, which the caller does not change. */
  byte[] text(int row) {
    return texts[row];
  }

  /** Returns how many bytes a value takes in a batch. */
  int length(int row) {
    return kind == Kind.TEXT ? Integer.BYTES + texts[row].length : Long.BYTES;
  }
}
