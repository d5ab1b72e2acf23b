package dev.ringfetch.examples.dataflow;

/**
 * The request of a sink to its source.
 *
 * @param table name of the data set.
 * @param batchBytes about how long a batch is.
 * @param passes how often the source sends all rows.
 */
record Request(String table, int batchBytes, int passes) {
  /** Reads what {@link #toString} wrote. */
  static Request parse(String text) {
    final String[] words = text.split(" ", 0);
    return new Request(words[0], Integer.parseInt(words[1]), Integer.parseInt(words[2]));
  }

  @Override
  public String toString() {
    return table + " " + batchBytes + " " + passes;
  }
}
