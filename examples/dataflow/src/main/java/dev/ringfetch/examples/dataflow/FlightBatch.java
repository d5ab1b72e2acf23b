package dev.ringfetch.examples.dataflow;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;

/** A batch that has come by Arrow Flight, in Arrow's vectors. */
final class FlightBatch implements Batch {
  private final VectorSchemaRoot root;

  FlightBatch(VectorSchemaRoot root) {
    this.root = root;
  }

  @Override
  public int rows() {
    return root.getRowCount();
  }

  @Override
  public ByteBuffer values(int column) {
    final FieldVector vector = root.getVector(column);
    return vector instanceof VarCharVector texts
        ? texts
            .getOffsetBuffer()
            .nioBuffer(0, (rows() + 1) * Integer.BYTES)
            .order(ByteOrder.LITTLE_ENDIAN)
        : vector.getDataBuffer().nioBuffer(0, rows() * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
  }

  @Override
  public ByteBuffer text(int column) {
    final VarCharVector texts = (VarCharVector) root.getVector(column);
    return texts
        .getDataBuffer()
        .nioBuffer(0, texts.getOffsetBuffer().getInt((long) rows() * Integer.BYTES));
  }
}
