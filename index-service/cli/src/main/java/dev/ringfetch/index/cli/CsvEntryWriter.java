package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.Box;
import java.io.IOException;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVPrinter;
import org.apache.commons.csv.QuoteMode;

/**
 * The writer of CSV: key, value, the names of those that are base64 (bytes that are no text of the
 * type), the deadline, and the corners of boxes if the entries have them.
 */
final class CsvEntryWriter implements EntryWriter {
  private final CSVPrinter printer;
  private final DataType keyType;
  private final DataType valueType;
  private final boolean boxes;

  /** Creates it, and writes the header. */
  CsvEntryWriter(Output out, DataType keyType, DataType valueType, boolean boxes)
      throws IOException {
    this.printer =
        new CSVPrinter(
            out.writer(),
            CSVFormat.DEFAULT
                .builder()
                .setRecordSeparator('\n')
                .setQuoteMode(QuoteMode.MINIMAL)
                .get());
    this.keyType = keyType;
    this.valueType = valueType;
    this.boxes = boxes;
    for (final String column : CsvEntryReader.DUMPED) {
      printer.print(column);
    }
    printer.printRecord(boxes ? EntryReader.BOX : List.of());
  }

  @Override
  public void write(ByteString key, ByteString written, Optional<Instant> deadline)
      throws IOException {
    final ByteString value = boxes ? Coordinates.value(written) : written;
    final Optional<String> keyText = keyType.print(key);
    final Optional<String> valueText = valueType.print(value);
    printer.print(keyText.orElseGet(() -> base64(key)));
    printer.print(valueText.orElseGet(() -> base64(value)));
    final String keyMark = keyText.isEmpty() ? "key" : "";
    final String valueMark = valueText.isEmpty() ? "value" : "";
    printer.print((keyMark + " " + valueMark).strip());
    printer.print(deadline.map(Instant::toString).orElse(""));
    if (boxes) {
      final Box box = Coordinates.box(written);
      printer.printRecord(box.minX(), box.minY(), box.maxX(), box.maxY());
    } else {
      printer.println();
    }
  }

  private static String base64(ByteString bytes) {
    return Base64.getEncoder().encodeToString(bytes.toByteArray());
  }
}
