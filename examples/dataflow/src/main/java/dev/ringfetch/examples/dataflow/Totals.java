package dev.ringfetch.examples.dataflow;

import dev.ringfetch.examples.process.Answer;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * The totals of the rows that a sink gets: their number, the sum of all numbers, and if asked for
 * the sum of the checksums of all texts. Sums wrap around.
 */
final class Totals {
  private final boolean withTexts;
  private final CRC32C checksum = new CRC32C();
  private long rows;
  private long numbers;
  private long texts;
  private long bytes;
  private long batches;

  Totals(boolean withTexts) {
    this.withTexts = withTexts;
  }

  /** Adds a batch, whose columns of these kinds it reads where they are. */
  void add(Batch batch, List<Column.Kind> kinds) {
    for (int i = 0; i < kinds.size(); i++) {
      final ByteBuffer values = batch.values(i);
      bytes += values.remaining();
      if (kinds.get(i) == Column.Kind.TEXT) {
        final ByteBuffer text = batch.text(i);
        bytes += text.remaining();
        if (withTexts) {
          addTexts(values, text, batch.rows());
        }
      } else {
        final LongBuffer longs = values.asLongBuffer();
        long sum = 0;
        for (int row = 0; row < batch.rows(); row++) {
          sum += longs.get(row);
        }
        numbers += sum;
      }
    }
    rows += batch.rows();
    batches++;
  }

  private void addTexts(ByteBuffer ends, ByteBuffer text, int count) {
    for (int row = 0; row < count; row++) {
      final int from = ends.getInt(Integer.BYTES * row);
      checksum.reset();
      checksum.update(text.slice(from, ends.getInt(Integer.BYTES * (row + 1)) - from));
      texts += checksum.getValue();
    }
  }

  void addRows(long count) {
    rows += count;
  }

  void addNumber(long number) {
    numbers += number;
  }

  void addText(byte[] text) {
    checksum.reset();
    checksum.update(text);
    texts += checksum.getValue();
  }

  /** Bytes of values so far. */
  long bytes() {
    return bytes;
  }

  /** Batches so far. */
  long batches() {
    return batches;
  }

  /** Adds the sums to an answer. */
  Answer addTo(Answer answer) {
    return answer.with("rows", rows).with("numbers", numbers).with("texts", texts);
  }

  /** True if an answer has so many times these sums. */
  boolean isIn(Answer answer, long times) {
    return answer.count("rows") == rows * times
        && answer.count("numbers") == numbers * times
        && (!answer.text("checked").equals("true") || answer.count("texts") == texts * times);
  }

  /** Adds the sums of other rows. */
  void add(Totals others) {
    rows += others.rows;
    numbers += others.numbers;
    texts += others.texts;
  }
}
