package dev.ringfetch.benchmarks.locks;

/** A client of a lock that one process at a time holds. Used by one thread. */
interface HeldLock extends AutoCloseable {
  /** Waits for the lock, does some work while this process holds it, and releases it. */
  void hold(Runnable work) throws Exception;

  @Override
  void close();
}
