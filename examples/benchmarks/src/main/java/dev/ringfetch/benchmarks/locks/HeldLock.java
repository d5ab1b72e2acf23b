package dev.ringfetch.benchmarks.locks;

/**
 * A client of a lock that one process at a time holds. Used by one thread.
 *
 * @param holding waits for the lock, does some work while this process holds it, and releases it.
 * @param end closes the connection.
 */
record HeldLock(Holding holding, Runnable end) implements AutoCloseable {
  /** The way in which a lock is held during some work. */
  interface Holding {
    /** Does the work while the lock is held. */
    void hold(Runnable work) throws Exception;
  }

  @Override
  public void close() {
    end.run();
  }
}
