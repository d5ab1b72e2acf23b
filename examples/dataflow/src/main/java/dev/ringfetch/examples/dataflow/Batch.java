package dev.ringfetch.examples.dataflow;

import java.nio.ByteBuffer;

/** A batch of rows at the sink, whose columns are read where they have arrived. */
interface Batch {
  /** How many rows there are. */
  int rows();

  /**
   * Returns the numbers of a column, or of texts the place of each, with one more at the end; in
   * little-endian order.
   */
  ByteBuffer values(int column);

  /** Returns the texts of a column, one after the other. */
  ByteBuffer text(int column);
}
