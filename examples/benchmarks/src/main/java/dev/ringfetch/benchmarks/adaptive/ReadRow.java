package dev.ringfetch.benchmarks.adaptive;

import dev.ringfetch.index.v1.IndexKind;

/** The reads that are measured. */
public enum ReadRow {
  /** Of one key of a hash index. */
  get("get", IndexKind.HASH, 1),
  /** Of 10 entries of an ordered index. */
  scan10("scan-10", IndexKind.ORDERED, 10),
  /** Of 100. */
  scan100("scan-100", IndexKind.ORDERED, 100),
  /** Of 1,000, in pages. */
  scan1000("scan-1000", IndexKind.ORDERED, 1_000),
  /** Of about 100 entries of a spatial index. */
  search100("search-100", IndexKind.SPATIAL, 100);

  private final String text;
  private final IndexKind kind;
  private final int entries;

  ReadRow(String text, IndexKind kind, int entries) {
    this.text = text;
    this.kind = kind;
    this.entries = entries;
  }

  /** For tables and scripts. */
  public String text() {
    return text;
  }

  /** The kind of the index that is read. */
  IndexKind kind() {
    return kind;
  }

  /** How many entries a read gives, at least nearly. */
  int entries() {
    return entries;
  }
}
