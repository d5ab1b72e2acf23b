package dev.ringfetch.rpc;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Counters;

/**
 * What sessions of this process have done so far.
 *
 * @param frames that they have sent.
 * @param fetches of their clients.
 * @param misses those fetches that brought no frame.
 * @param torn times that a frame was not all there.
 * @param hints datagrams that brought answers.
 * @param dropped datagrams that were of no use.
 * @param turns of clients to another way in which answers come.
 */
record SessionTotals(
    long frames, long fetches, long misses, long torn, long hints, long dropped, long turns) {
  static SessionTotals now() {
    return new SessionTotals(
        total(Counter.SESSION_FRAMES_SENT),
        total(Counter.SESSION_FETCHES),
        total(Counter.SESSION_FETCH_MISSES),
        total(Counter.SESSION_FRAMES_TORN),
        total(Counter.SESSION_HINTS_TAKEN),
        total(Counter.SESSION_HINTS_DROPPED),
        total(Counter.SESSION_REPLY_TURNS));
  }

  private static long total(Counter counter) {
    return Counters.ofThisProcess().stream().mapToLong(counters -> counters.total(counter)).sum();
  }

  /** What they have done since. */
  SessionTotals since(SessionTotals before) {
    return new SessionTotals(
        frames - before.frames,
        fetches - before.fetches,
        misses - before.misses,
        torn - before.torn,
        hints - before.hints,
        dropped - before.dropped,
        turns - before.turns);
  }
}
