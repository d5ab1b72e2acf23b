package dev.ringfetch.index.direct;

/** A receiver of the entries of a {@link DirectScan}, one after the other. */
@FunctionalInterface
public interface DirectSink {
  /**
   * Takes an entry.
   *
   * @param entry is overwritten after the return.
   * @return whether the scan continues; in either case it is behind this entry.
   */
  boolean take(DirectEntry entry);
}
