package dev.ringfetch.benchmarks.stores;

/**
 * A store as a client's process uses it. Closing it ends all that this process has of it, and
 * leaves the entries to other processes.
 */
interface Store extends AutoCloseable {
  /** Opens what one thread needs in order to read and write. */
  Session open();

  /** Removes all entries; no session may be in use meanwhile. */
  void clear();

  /** Bytes that the store has for its entries, as far as it can tell. */
  long usedBytes();

  /** What makes figures worthless, for example that calls did not go over the ring; or empty. */
  default String obstacle() {
    return "";
  }

  @Override
  void close();

  /** The reads and writes of one thread. */
  interface Session extends AutoCloseable {
    /** Returned by {@link #scan}: entries that are none, out of order, or not of their keys. */
    int WRONG = -1;

    /** Reads an entry, which is there; whether what came is a value of it. */
    boolean get(long number);

    /**
     * Reads entries in the order of their keys, those with values.
     *
     * @param number of the first one, which is there.
     * @param limit the most entries.
     * @return how many there were, or {@link #WRONG}.
     */
    default int scan(long number, int limit) {
      throw new UnsupportedOperationException("no order");
    }

    /** Writes an entry. */
    void put(long number, long stamp);

    /**
     * Writes many entries, in the fastest way that the store has.
     *
     * @param first number of the first one.
     * @param end number after the last one.
     */
    void putAll(long first, long end);

    @Override
    default void close() {}
  }
}
