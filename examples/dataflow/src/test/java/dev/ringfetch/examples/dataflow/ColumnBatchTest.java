package dev.ringfetch.examples.dataflow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.examples.process.Answer;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ColumnBatchTest {
  private static final Table TABLE =
      new Table(
          "test",
          3,
          List.of(
              Column.ofTexts("name", List.of("one", "", "drei und zwölf")),
              Column.ofLongs("number", List.of(1L, -1L, Long.MAX_VALUE)),
              Column.ofDoubles("share", List.of(0.5, -0.0, Double.NaN))));

  private static Answer read(List<ByteBuffer> blocks) {
    final Totals totals = new Totals(true);
    blocks.forEach(block -> totals.add(new ColumnBatch(block), TABLE.kinds()));
    return totals.addTo(new Answer().with("checked", true));
  }

  @Test
  void batchesHaveTheValuesOfTheirTable() {
    for (final int bytes : new int[] {1, 50, 1000}) {
      assertTrue(
          TABLE
              .totals()
              .isIn(
                  read(
                      TABLE.batches(bytes).stream()
                          .map(range -> ColumnBatch.encode(TABLE, range))
                          .toList()),
                  1));
    }
    assertEquals(3, TABLE.batches(1).size());
    assertEquals(1, TABLE.batches(1000).size());
  }

  @Test
  void theSinkKnowsTheKindsOfTheTables() throws Exception {
    assertEquals(Classes.KINDS, Classes.read().kinds());
    assertEquals(Cities.KINDS, Cities.read(null).kinds());
  }

  @Test
  void aChangedByteIsNoticed() {
    final ByteBuffer block = ColumnBatch.encode(TABLE, new Table.Range(0, 3));
    final ColumnBatch batch = new ColumnBatch(block);
    final List<ByteBuffer> parts =
        List.of(batch.values(0), batch.text(0), batch.values(1), batch.values(2));
    parts.get(1).put(4, (byte) (parts.get(1).get(4) ^ 1));
    assertFalse(TABLE.totals().isIn(read(List.of(block)), 1));
    parts.get(1).put(4, (byte) (parts.get(1).get(4) ^ 1));
    parts.get(3).put(0, (byte) 1);
    assertFalse(TABLE.totals().isIn(read(List.of(block)), 1));
  }
}
