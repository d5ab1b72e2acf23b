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
    /** Reads an entry, which is there; whether what came is a value of it. */
    boolean get(long number);

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
