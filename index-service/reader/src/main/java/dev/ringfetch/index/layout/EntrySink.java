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
   * @return whether the scan goes on; in either case it is behind this entry then
   */
  boolean take(byte[] array, int keyOffset, int keyLength, int valueLength, long version);

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
