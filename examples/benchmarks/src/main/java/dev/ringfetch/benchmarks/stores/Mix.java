package dev.ringfetch.benchmarks.stores;

/** What a thread does to the entries that it draws. */
public enum Mix {
  /** Reads. */
  get(1000),
  /** Updates. */
  put(0),
  /** YCSB's workload A: half of them are updates. */
  a(500),
  /** YCSB's workload B: one of twenty is an update. */
  b(950),
  /** YCSB's workload C: reads. */
  c(1000);

  /** Denominator of {@link #reads}. */
  static final int OF = 1000;

  private final int reads;

  Mix(int reads) {
    this.reads = reads;
  }

  /** How many of {@value #OF} operations are reads. */
  int reads() {
    return reads;
  }
}
