package dev.ringfetch.examples.verbs;

/**
 * The rule by which requests of a send queue ask for a completion: one in {@link #INTERVAL}. A
 * queue of {@link #DEPTH} requests cannot overflow if each of these completions is waited for
 * before the next one is asked for.
 */
final class BareSignals {
  static final int INTERVAL = 64;
  static final int DEPTH = 2 * INTERVAL;

  private int unsignaled;

  /** Whether the next request is to ask for its completion. */
  boolean next() {
    if (++unsignaled < INTERVAL) {
      return false;
    }
    unsignaled = 0;
    return true;
  }
}
