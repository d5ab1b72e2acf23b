package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import java.io.BufferedReader;
import java.io.FilterReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.commons.csv.CSVException;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;

/**
 * The reader of CSV. A malformed record is a bad line; reading resumes at the next line.
 *
 * <p>The parser works on bytes, each as a character of Latin-1: so malformed UTF-8 is a bad cell,
 * not the end of the file. All characters with a meaning to the parser are ASCII.
 */
final class CsvEntryReader implements EntryReader {
  /**
   * The header that {@link CsvEntryWriter} writes. The third column says which of key and value are
   * base64. The last one has the deadline of the entry; older dumps lack it.
   */
  static final List<String> DUMPED = List.of("key", "value", "base64", "deadline");

  private static final int BASE64 = 2;
  private static final int DEADLINE = 3;
  private static final int NONE = -1;

  private final String file;
  private final Fields fields;
  private final Limit limit;
  private final CSVParser parser;
  private final Iterator<CSVRecord> records;
  private final int keyColumn;
  private final int valueColumn;
  private final int width; // columns
  private final int least; // columns of a record
  private final int base64Column; // NONE if the file is no dump
  private final int deadlineColumn; // the same
  private final int[] boxColumns; // of a point, or of two corners; empty if there are no boxes
  private CSVRecord pending; // the first record, if it is no header
  private long brokenLine; // its rest is skipped

  /** A limit of the characters of a record, which detects a quote that is never closed. */
  private static final class Limit extends FilterReader {
    private long left = LINE_MAX;

    Limit(Reader in) {
      super(in);
    }

    void begin() {
      left = LINE_MAX;
    }

    @Override
    public int read(char[] chars, int offset, int length) throws IOException {
      final int count = super.read(chars, offset, length);
      count(count);
      return count;
    }

    private void count(int characters) {
      left -= characters;
      if (left < 0) {
        throw new CommandFailure(ExitCode.FAILED, "");
      }
    }
  }

  /**
   * Creates it, and reads the header.
   *
   * @param file its name, for messages.
   * @param header whether the first record has the names of the columns.
   */
  CsvEntryReader(String file, InputStream in, char delimiter, boolean header, Fields fields)
      throws IOException {
    this.file = file;
    this.fields = fields;
    this.limit = new Limit(new InputStreamReader(in, StandardCharsets.ISO_8859_1));
    this.parser =
        CSVFormat.DEFAULT.builder().setDelimiter(delimiter).get().parse(new BufferedReader(limit));
    this.records = parser.iterator();
    final CSVRecord first = firstRecord();
    final List<String> names = header ? names(first) : List.of();
    if (!header) {
      pending = first;
    }
    width = first == null ? 0 : first.size();
    if (!header && width > BASE64 && (fields.key() == null || fields.value() == null)) {
      throw failure(
          1,
          "without a header, --key and --value are the numbers of two of the "
              + width
              + " columns");
    }
    keyColumn = column("--key", fields.key(), names, 1);
    valueColumn = column("--value", fields.value(), names, 2);
    final boolean dumped =
        keyColumn == 0
            && valueColumn == 1
            && names.size() > BASE64
            && names.subList(0, BASE64 + 1).equals(DUMPED.subList(0, BASE64 + 1));
    base64Column = dumped ? BASE64 : NONE;
    deadlineColumn = dumped && names.indexOf(DUMPED.get(DEADLINE)) == DEADLINE ? DEADLINE : NONE;
    final List<String> corners =
        dumped && fields.box().isEmpty() && names.containsAll(BOX) ? BOX : fields.box();
    boxColumns = corners.stream().mapToInt(name -> column("--box", name, names, 0)).toArray();
    least = IntStream.of(boxColumns).reduce(Math.max(keyColumn, valueColumn), Math::max) + 1;
  }

  private CSVRecord firstRecord() throws IOException {
    try {
      return records.hasNext() ? records.next() : null;
    } catch (UncheckedIOException e) {
      throw failure(1, "the first line is no CSV: " + reason(e));
    } catch (CommandFailure e) {
      throw failure(1, unclosed());
    }
  }

  private static List<String> names(CSVRecord first) {
    final List<String> names = new ArrayList<>();
    if (first != null) {
      for (final String cell : first) {
        names.add(new String(bytes(cell), StandardCharsets.UTF_8));
      }
    }
    return names;
  }

  /** Index of a column by its name, or by its number. */
  private int column(String option, String wanted, List<String> names, int numberByDefault) {
    final String name = wanted == null ? DUMPED.get(numberByDefault - 1) : wanted;
    final int named = names.indexOf(name);
    if (named >= 0) {
      return named;
    }
    if (width == 0) {
      return numberByDefault - 1; // an empty file
    }
    if (wanted == null && names.isEmpty()) {
      return checkedNumber(option, "" + numberByDefault);
    }
    if (wanted != null && wanted.matches("\\d{1,6}")) {
      return checkedNumber(option, wanted);
    }
    throw failure(
        1,
        names.isEmpty()
            ? option + " is the number of a column without a header: 1 to " + width
            : "no column is called '"
                + name
                + "'; "
                + option
                + " takes one of: "
                + Printable.cut(String.join(", ", names), 200));
  }

  private int checkedNumber(String option, String number) {
    final int column = Integer.parseInt(number);
    if (column < 1 || column > width) {
      throw failure(1, option + ": there is no column " + number + " of " + width);
    }
    return column - 1;
  }

  private CommandFailure failure(long line, String text) {
    return new CommandFailure(ExitCode.FAILED, file + ":" + line + ": " + text);
  }

  private static String unclosed() {
    return "a quote is not closed within "
        + Printable.bytes(LINE_MAX)
        + "; nothing after this line is read";
  }

  @Override
  public Line next() throws IOException {
    while (true) {
      final long line = parser.getCurrentLineNumber() + 1;
      final CSVRecord record;
      try {
        limit.begin();
        if (pending != null) {
          record = pending;
          pending = null;
          return entry(1, record);
        }
        if (!records.hasNext()) {
          return null;
        }
        record = records.next();
      } catch (UncheckedIOException e) {
        final String reason = reason(e);
        if (line != brokenLine) {
          brokenLine = parser.getCurrentLineNumber() + 1;
          return Line.bad(line, "no CSV: " + reason);
        }
        continue;
      } catch (CommandFailure e) {
        throw failure(line, unclosed());
      }
      if (line != brokenLine) {
        return entry(line, record);
      }
      brokenLine = 0;
    }
  }

  /** The text of an error in the CSV; throws if the input cannot be read. */
  private static String reason(UncheckedIOException e) throws IOException {
    if (!(e.getCause() instanceof CSVException)) {
      throw e.getCause();
    }
    return Stdio.oneLine(String.valueOf(e.getCause().getMessage()));
  }

  private Line entry(long line, CSVRecord record) {
    if (record.size() < least) {
      return Line.bad(
          line, "has " + Printable.count(record.size(), "column", "columns") + " of " + least);
    }
    if (record.size() > width) {
      return Line.bad(
          line,
          "has "
              + Printable.count(record.size(), "column", "columns")
              + ", and the first line has "
              + width);
    }
    try {
      final String base64 = optional(record, base64Column);
      if (!base64.isEmpty() && !base64.matches("key|value|key value")) {
        throw new IllegalArgumentException(
            "column base64 names key, value or both, not '" + Printable.shorten(base64) + "'");
      }
      return Line.of(
          line,
          cell("key", record.get(keyColumn), fields.keyType(), base64),
          value(record, base64),
          EntryReader.deadline(optional(record, deadlineColumn)));
    } catch (IllegalArgumentException e) {
      return Line.bad(line, e.getMessage());
    }
  }

  /** A cell; empty if there is no such column, or the record is shorter. */
  private static String optional(CSVRecord record, int column) {
    return column != NONE && record.size() > column ? record.get(column) : "";
  }

  @Override
  public boolean hasBoxes() {
    return boxColumns.length > 0;
  }

  /** The value of a record, behind its box if it has one. */
  private ByteString value(CSVRecord record, String base64) {
    final ByteString value = cell("value", record.get(valueColumn), fields.valueType(), base64);
    if (boxColumns.length == 0) {
      return value;
    }
    final double[] corners =
        IntStream.of(boxColumns).mapToDouble(i -> Coordinates.number(record.get(i))).toArray();
    return Coordinates.located(Coordinates.box(corners), value);
  }

  private static ByteString cell(String what, String cell, DataType type, String base64) {
    if (base64.contains(what)) {
      return EntryReader.base64(what, cell);
    }
    final ByteString bytes = ByteString.copyFrom(bytes(cell));
    if (!bytes.isValidUtf8()) {
      throw new IllegalArgumentException("the " + what + " is no UTF-8");
    }
    return type == DataType.STRING ? bytes : type.parse(bytes.toStringUtf8());
  }

  private static byte[] bytes(String cell) {
    return cell.getBytes(StandardCharsets.ISO_8859_1);
  }
}
