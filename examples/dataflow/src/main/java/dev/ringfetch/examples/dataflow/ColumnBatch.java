package dev.ringfetch.examples.dataflow;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A batch in one block of memory, in little-endian order: the number of rows; for each column the
 * place and length of its values and of its texts; then these, each at a multiple of eight bytes.
 * Nothing is parsed but those places.
 */
final class ColumnBatch implements Batch {
  private static final int ENTRY_LENGTH = 4 * Integer.BYTES;
  private static final int HEAD_LENGTH = Long.BYTES;

  private final ByteBuffer block;

  /** Creates a view of a block. */
  ColumnBatch(ByteBuffer block) {
    this.block = block.slice().order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Writes some rows of a table into a new block of direct memory. */
  static ByteBuffer encode(Table table, Table.Range range) {
    int length = HEAD_LENGTH + table.columns().size() * ENTRY_LENGTH;
    for (final Column column : table.columns()) {
      length = aligned(length) + valuesLength(column, range.rows());
      length = aligned(length) + textLength(column, range);
    }
    final ByteBuffer block =
        ByteBuffer.allocateDirect(aligned(length)).order(ByteOrder.LITTLE_ENDIAN);
    block.putInt(0, range.rows());
    int place = HEAD_LENGTH + table.columns().size() * ENTRY_LENGTH;
    for (int i = 0; i < table.columns().size(); i++) {
      final Column column = table.columns().get(i);
      final int values = aligned(place);
      final int text = aligned(values + valuesLength(column, range.rows()));
      place = text + textLength(column, range);
      block.position(HEAD_LENGTH + i * ENTRY_LENGTH);
      block.putInt(values).putInt(valuesLength(column, range.rows()));
      block.putInt(text).putInt(place - text);
      int end = 0;
      for (int row = 0; row < range.rows(); row++) {
        if (column.kind() == Column.Kind.TEXT) {
          final byte[] bytes = column.text(range.from() + row);
          block.putInt(values + row * Integer.BYTES, end);
          block.put(text + end, bytes);
          end += bytes.length;
        } else {
          block.putLong(values + row * Long.BYTES, column.number(range.from() + row));
        }
      }
      if (column.kind() == Column.Kind.TEXT) {
        block.putInt(values + range.rows() * Integer.BYTES, end);
      }
    }
    return block.clear();
  }

  private static int aligned(int place) {
    return (place + Long.BYTES - 1) & -Long.BYTES;
  }

  private static int valuesLength(Column column, int rows) {
    return column.kind() == Column.Kind.TEXT ? (rows + 1) * Integer.BYTES : rows * Long.BYTES;
  }

  private static int textLength(Column column, Table.Range range) {
    int length = 0;
    if (column.kind() == Column.Kind.TEXT) {
      for (int row = range.from(); row < range.to(); row++) {
        length += column.text(row).length;
      }
    }
    return length;
  }

  @Override
  public int rows() {
    return block.getInt(0);
  }

  @Override
  public ByteBuffer values(int column) {
    return part(HEAD_LENGTH + column * ENTRY_LENGTH);
  }

  @Override
  public ByteBuffer text(int column) {
    return part(HEAD_LENGTH + column * ENTRY_LENGTH + ENTRY_LENGTH / 2);
  }

  private ByteBuffer part(int entry) {
    return block
        .slice(block.getInt(entry), block.getInt(entry + Integer.BYTES))
        .order(ByteOrder.LITTLE_ENDIAN);
  }
}
