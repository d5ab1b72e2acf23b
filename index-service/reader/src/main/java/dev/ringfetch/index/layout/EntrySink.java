package dev.ringfetch.index.layout;

/** A receiver of the entries of a scan, one after the other. */
@FunctionalInterface
public interface EntrySink {
  /**
   * Takes an entry.
   *
   * @param array a private copy, which is overwritten after the return
   * @param keyOffset where the key begins in it; the value follows
   * @param keyLength length of the key in bytes
   * @param valueLength length of the value in bytes
   * @param version of the entry
   * @param deadline of the entry, in milliseconds since 1970; 0 if it has none
   * @return whether the scan continues; in either case it is behind this entry
   */
  boolean take(
      byte[] array, int keyOffset, int keyLength, int valueLength, long version, long deadline);

  /**
   * Called for each expired entry, which is skipped; returns whether the scan continues. A sink can
   * so bound the time for skipped entries.
   */
  default boolean passes() {
    return true;
  }

  /**
   * The time that decides which entries have expired, in milliseconds since 1970. Negative, the
   * default, for the clock of the index.
   */
  default long clock() {
    return -1;
  }

  /**
   * Limit of the entries that it accepts before it ends the scan: the reader does not read further
   * ahead.
   */
  default int room() {
    return Integer.MAX_VALUE;
  }

  /**
   * Whether the entries that were read may be delivered. Called after the reads and before the
   * first delivery; if false, the scan ends with {@link ReadResult#CLOSED} before these entries.
   */
  default boolean admits() {
    return true;
  }
}
