package dev.ringfetch.benchmarks.stores;

/** What a thread does to the entries that it draws: reads, scans, and writes for the rest. */
public enum Mix {
  /** Reads. */
  get(1000, 0, Writes.UPDATES),
  /** Updates. */
  put(0, 0, Writes.UPDATES),
  /** Scans of {@link #LONGEST_SCAN} entries each. */
  scan(0, 1000, Writes.UPDATES),
  /** YCSB's workload A: half of them are updates. */
  a(500, 0, Writes.UPDATES),
  /** YCSB's workload B: one of twenty is an update. */
  b(950, 0, Writes.UPDATES),
  /** YCSB's workload C: reads. */
  c(1000, 0, Writes.UPDATES),
  /** YCSB's workload E: scans of 1 to {@link #LONGEST_SCAN} entries; one of twenty is an insert. */
  e(0, 950, Writes.INSERTS);

  private enum Writes {
    UPDATES,
    INSERTS
  }

  /** The most entries of a scan. */
  static final int LONGEST_SCAN = 100;

  /** Denominator of {@link #reads}. */
  static final int OF = 1000;

  private final int reads;
  private final int scans;
  private final Writes writes;

  Mix(int reads, int scans, Writes writes) {
    this.reads = reads;
    this.scans = scans;
    this.writes = writes;
  }

  /** How many of {@value #OF} operations are reads. */
  int reads() {
    return reads;
  }

  /** How many of {@value #OF} operations are scans. */
  int scans() {
    return scans;
  }

  /**
   * Entries of a scan.
   *
   * @param random not negative
   */
  int scanLength(long random) {
    return this == scan ? LONGEST_SCAN : 1 + (int) (random % LONGEST_SCAN);
  }

  /** Whether writes are of entries that were not there. */
  boolean inserts() {
    return writes == Writes.INSERTS;
  }
}
