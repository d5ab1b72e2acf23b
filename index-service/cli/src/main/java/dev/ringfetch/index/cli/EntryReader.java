package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/** A reader of the entries of a file, one by one. Used by one thread. */
interface EntryReader {
  /** Suffix of the names of JSON fields in base64. */
  String BASE64_SUFFIX = "_base64";

  /** The shortest time to live. */
  Duration MOMENT = Duration.ofMillis(1);

  /** The JSON field with the deadline of an entry. */
  String DEADLINE = "deadline";

  /** The columns or fields of boxes that a dump has. */
  List<String> BOX = List.of("min_x", "min_y", "max_x", "max_y");

  /** The most bytes of a line, or of a CSV record: a value of 1 MiB, every byte of it escaped. */
  int LINE_MAX = 8 << 20;

  /**
   * The fields, or columns, of key and value, and their types.
   *
   * @param key name of the field, or number of the column.
   * @param value the same.
   * @param box the same of a point's coordinates, or of two corners'; empty for those of a dump.
   */
  record Fields(String key, String value, List<String> box, DataType keyType, DataType valueType) {}

  /**
   * A line of a file: an entry, or the reason why it is none.
   *
   * @param number of its first line in the file, from 1 on.
   * @param value begins with a box if the entry has one.
   * @param deadline when the entry ends; empty for never.
   * @param problem null if there is an entry.
   */
  record Line(
      long number, ByteString key, ByteString value, Optional<Instant> deadline, String problem) {
    /** A line that is no entry. */
    static Line bad(long number, String problem) {
      return new Line(number, null, null, Optional.empty(), problem);
    }

    /** A line with an entry; a bad line if key or value exceed a server's limits. */
    static Line of(long number, ByteString key, ByteString value, Optional<Instant> deadline) {
      TypeOptions.checkKey(key);
      TypeOptions.checkValue(value);
      return new Line(number, key, value, deadline, null);
    }

    /** Whether the deadline has come. */
    boolean hasEnded() {
      return deadline.filter(end -> !Instant.now().isBefore(end)).isPresent();
    }

    /** The time until the deadline; a moment if it has come. */
    Duration timeLeft() {
      final Duration left = Duration.between(Instant.now(), deadline.orElseThrow());
      return left.compareTo(MOMENT) < 0 ? MOMENT : left;
    }

    boolean isBad() {
      return problem != null;
    }
  }

  /**
   * The next entry or bad line; null at the end.
   *
   * @throws CommandFailure if the rest of the file cannot be read.
   */
  Line next() throws IOException;

  /** Whether the entries have boxes, by the head of the file or its first entry. */
  boolean hasBoxes() throws IOException;

  /** The deadline of an entry; empty if the text is empty. */
  static Optional<Instant> deadline(String text) {
    try {
      return text.isEmpty() ? Optional.empty() : Optional.of(Instant.parse(text));
    } catch (DateTimeException e) {
      throw new IllegalArgumentException(
          "deadline is no instant, such as 2026-11-27T08:30:00Z: " + Printable.shorten(text), e);
    }
  }

  /** The bytes of a text in base64. */
  static ByteString base64(String field, String text) {
    try {
      return ByteString.copyFrom(Base64.getDecoder().decode(text));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(field + " is no base64: " + Printable.shorten(text), e);
    }
  }
}
