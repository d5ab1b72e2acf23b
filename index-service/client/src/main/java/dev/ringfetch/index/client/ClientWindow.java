package dev.ringfetch.index.client;

/**
 * The window of write numbers of one client at the server: assigns them, and knows the lowest one
 * under way; the server drops the outcomes below it. Safe for use by many threads.
 */
final class ClientWindow {
  /** Limit of the distance between a number and the lowest one under way: the server's limit. */
  static final int LENGTH = 1 << 16;

  /**
   * Consecutive numbers.
   *
   * @param window that assigned them
   * @param first the lowest one
   * @param count how many there are
   */
  record Numbers(ClientWindow window, long first, int count) {
    /** Notes that these writes are not sent any more. Called once. */
    void complete() {
      window.complete(first, count);
    }
  }

  private final long client;
  private final long leaseNs;
  private volatile long renewedNs;

  // Guarded by this.
  private final long[] complete = new long[LENGTH / Long.SIZE];
  private long next = 1;
  private long firstIncomplete = 1;

  /**
   * Creates the window of a new client.
   *
   * @param client its number, as the server gave it
   * @param leaseNs how long the server keeps the client
   * @param renewedNs when the lease began at the earliest
   */
  ClientWindow(long client, long leaseNs, long renewedNs) {
    this.client = client;
    this.leaseNs = leaseNs;
    this.renewedNs = renewedNs;
  }

  long client() {
    return client;
  }

  /** Notes that the server has answered a request that was sent at this time. */
  void renewed(long sentNs) {
    if (sentNs - renewedNs > 0) {
      renewedNs = sentNs;
    }
  }

  /** True if half of the lease may be over: it must be renewed before the next write. */
  boolean isStale(long nowNs) {
    return nowNs - renewedNs > leaseNs / 2;
  }

  /** Takes the next numbers; null if those under way leave no room for so many. */
  synchronized Numbers take(int count) {
    if (next + count - firstIncomplete > LENGTH) {
      return null;
    }
    final Numbers taken = new Numbers(this, next, count);
    next += count;
    return taken;
  }

  private synchronized void complete(long first, int count) {
    for (long number = first; number < first + count; number++) {
      complete[word(number)] |= 1L << number;
    }
    while (firstIncomplete < next
        && (complete[word(firstIncomplete)] >>> firstIncomplete & 1) != 0) {
      complete[word(firstIncomplete)] &= ~(1L << firstIncomplete);
      firstIncomplete++;
    }
  }

  private static int word(long number) {
    return (int) (number % LENGTH) / Long.SIZE;
  }

  /** The first number that is under way, or the next one. */
  synchronized long firstIncomplete() {
    return firstIncomplete;
  }

  /** Whether no number is under way. */
  synchronized boolean isIdle() {
    return firstIncomplete == next;
  }
}
