package dev.ringfetch.index.layout;

/** Receives the entries of a scan, one after the other. */
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
   * @return whether the scan goes on; in either case it is behind this entry then
   */
  boolean take(
      byte[] array, int keyOffset, int keyLength, int valueLength, long version, long deadline);

  /**
   * Called for an entry that is left out as its deadline has come: says whether the scan goes on.
   * So a sink can bound the time that many of them together take.
   */
  default boolean passes() {
    return true;
  }

  /**
   * The clock by which entries are absent, in milliseconds since 1970; less than 0, as unless
   * overridden: the clock of the index.
   */
  default long clock() {
    return -1;
  }

  /** How many entries it takes at most before it ends the scan: the reader reads no more ahead. */
  default int room() {
    return Integer.MAX_VALUE;
  }

  /**
   * Whether entries that were read may be given out. Called after they were read, and before the
   * first of them is taken; if not, the scan ends with {@link ReadResult#CLOSED} in front of it.
   */
  default boolean admits() {
    return true;
  }
}
