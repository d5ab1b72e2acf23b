package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.ScanResponse;

/** The pages of a scan, one after another. Used by one thread at a time. */
interface Pages extends AutoCloseable {
  /** Waits for the next page; null after the last one. Throws {@link IndexException}. */
  ScanResponse next();

  /** Ends the scan. Idempotent. */
  @Override
  void close();
}
