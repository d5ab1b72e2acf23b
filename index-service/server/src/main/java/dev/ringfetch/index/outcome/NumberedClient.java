package dev.ringfetch.index.outcome;

import java.util.concurrent.atomic.AtomicLong;

/**
 * A client with numbered writes: knows of which writes outcomes are kept. Shared by all partitions.
 *
 * <p>Safe for use by many threads.
 */
public final class NumberedClient {
  /**
   * Limit of the distance of a number from the first incomplete one; bounds the kept outcomes of a
   * client.
   */
  public static final int WINDOW = 1 << 16;

  /**
   * Upper bound of numbers: in a record, the higher bits have the distance from the first
   * incomplete one.
   */
  public static final long NUMBER_LIMIT = 1L << 48;

  /** Divisor of the term: the begin of a lease is stored with this precision. */
  private static final int RENEWALS = 64;

  private enum State {
    OPEN,
    CLOSED
  }

  private final long id;
  private final AtomicLong firstIncomplete;
  private volatile State state = State.OPEN;
  private volatile long renewedNs;

  /**
   * Creates a client.
   *
   * @param id its number, not 0
   * @param firstIncomplete the first of its writes whose outcome is kept
   */
  public NumberedClient(long id, long firstIncomplete) {
    this.id = id;
    this.firstIncomplete = new AtomicLong(firstIncomplete);
  }

  /** Number of the client. */
  public long id() {
    return id;
  }

  /** Number of its first write that may be repeated; only grows. */
  public long firstIncomplete() {
    return firstIncomplete.get();
  }

  /** Notes that all writes below this number are complete. */
  public void complete(long below) {
    long known = firstIncomplete.get();
    while (known < below && !firstIncomplete.compareAndSet(known, below)) {
      known = firstIncomplete.get();
    }
  }

  /** Whether the outcome of a write is kept. If not, it must not be carried out. */
  public boolean keeps(long number) {
    return state == State.OPEN && number >= firstIncomplete.get();
  }

  /**
   * The packed form for records: the number, and above it its distance from the first incomplete
   * one.
   */
  public long packed(long number) {
    final long distance = Math.max(0, number - firstIncomplete.get());
    return distance << 48 | number;
  }

  /** The number in a packed form. */
  public static long number(long packed) {
    return packed & (NUMBER_LIMIT - 1);
  }

  /** The first incomplete number in a packed form. */
  public static long firstIncomplete(long packed) {
    return number(packed) - (packed >>> 48);
  }

  void begin(long nowNs) {
    renewedNs = nowNs;
  }

  /** Begins the lease anew; false if it is over. */
  boolean renew(long nowNs, long termNs) {
    final long ageNs = nowNs - renewedNs;
    if (state == State.CLOSED || ageNs > termNs) {
      return false;
    }
    if (ageNs > termNs / RENEWALS) {
      renewedNs = nowNs;
    }
    return true;
  }

  boolean isOver(long nowNs, long termNs) {
    return nowNs - renewedNs > termNs;
  }

  /** Ends the client: its outcomes are no longer kept. Idempotent; returns whether it was open. */
  synchronized boolean close() {
    final boolean wasOpen = state == State.OPEN;
    state = State.CLOSED;
    return wasOpen;
  }

  /** Hash that spreads clients over tables. */
  int hash(long number) {
    final long mixed = (id ^ number) * 0x9E37_79B9_7F4A_7C15L;
    return (int) (mixed >>> 32);
  }

  @Override
  public String toString() {
    return "client=" + Long.toUnsignedString(id);
  }
}
