package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.time.Instant;
import java.util.Base64;
import java.util.Optional;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVPrinter;
import org.apache.commons.csv.QuoteMode;

/**
 * The writer of CSV: key, value, the names of those that are base64 (bytes that are no text of the
 * type), and the deadline.
 */
final class CsvEntryWriter implements EntryWriter {
  private final CSVPrinter printer;
  private final DataType keyType;
  private final DataType valueType;

  /** Creates it, and writes the header. */
  CsvEntryWriter(Output out, DataType keyType, DataType valueType) throws IOException {
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
    printer.printRecord(CsvEntryReader.DUMPED);
  }

  @Override
  public void write(ByteString key, ByteString value, Optional<Instant> deadline)
      throws IOException {
    final Optional<String> keyText = keyType.print(key);
    final Optional<String> valueText = valueType.print(value);
    printer.print(keyText.orElseGet(() -> base64(key)));
    printer.print(valueText.orElseGet(() -> base64(value)));
    final String keyMark = keyText.isEmpty() ? "key" : "";
    final String valueMark = valueText.isEmpty() ? "value" : "";
    printer.print((keyMark + " " + valueMark).strip());
    printer.print(deadline.map(Instant::toString).orElse(""));
    printer.println();
  }

  private static String base64(ByteString bytes) {
    return Base64.getEncoder().encodeToString(bytes.toByteArray());
  }
}
