package dev.ringfetch.benchmarks.stores;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/** The operations of one thread: entries by Zipf's distribution, one operation after the other. */
final class Worker {
  private static final int SPAN = 32; // operations between two looks at the clock
  private static final long LONGEST_NS = TimeUnit.SECONDS.toNanos(60);
  private static final long BURST_NS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final int DIGITS = 3;

  private final Store.Session session;
  private final int[] sequence;
  private final int entries;
  private final Histogram latencies = new Histogram(LONGEST_NS, DIGITS);
  private int position;
  private long random;
  private long insert;
  private long stamp;
  private long calls;
  private long wrong;
  private long elapsedNs;

  /**
   * Creates it.
   *
   * @param sequence numbers of entries, a power of two of them, which workers share.
   * @param entries that the store has.
   * @param position where in the sequence it begins.
   * @param insert number of the first entry that it inserts; nothing else has those behind it.
   */
  Worker(Store.Session session, int[] sequence, int entries, int position, long insert) {
    if (Integer.bitCount(sequence.length) != 1) {
      throw new IllegalArgumentException("not a power of two: length=" + sequence.length);
    }
    this.session = session;
    this.sequence = sequence;
    this.entries = entries;
    this.position = position;
    this.insert = insert;
    this.random = position + 1L;
  }

  /** Works until it is to stop, or the time is over. */
  void run(Mix mix, boolean timed, long lengthNs, AtomicBoolean stop) {
    begin();
    final long startNs = System.nanoTime();
    long nowNs = startNs;
    while (nowNs - startNs < lengthNs) {
      if (timed) {
        step(mix);
        final long afterNs = System.nanoTime();
        latencies.recordValue(Math.min(afterNs - nowNs, LONGEST_NS));
        nowNs = afterNs;
      } else {
        for (int i = 0; i < SPAN; i++) {
          step(mix);
        }
        nowNs = System.nanoTime();
      }
      if ((calls & (SPAN - 1)) == 0 && stop.get()) {
        break;
      }
    }
    elapsedNs = nowNs - startNs;
  }

  /** Works at a rate, in bursts of a millisecond, until it is to stop. */
  void runAt(Mix mix, int perSecond, AtomicBoolean stop) {
    begin();
    final long startNs = System.nanoTime();
    long nowNs = startNs;
    while (!stop.get()) {
      final long due = (long) ((nowNs - startNs) / 1e9 * perSecond);
      while (calls < due && !stop.get()) {
        step(mix);
      }
      LockSupport.parkNanos(BURST_NS);
      nowNs = System.nanoTime();
    }
    elapsedNs = System.nanoTime() - startNs;
  }

  private void begin() {
    latencies.reset();
    calls = 0;
    wrong = 0;
  }

  private void step(Mix mix) {
    final int number = sequence[position++ & (sequence.length - 1)];
    // Marsaglia's xorshift (2003): cheap beside what is measured.
    random ^= random << 13;
    random ^= random >>> 7;
    random ^= random << 17;
    final long positive = random >>> 1;
    final int drawn = (int) (positive % Mix.OF);
    if (drawn < mix.reads()) {
      wrong += session.get(number) ? 0 : 1;
    } else if (drawn < mix.reads() + mix.scans()) {
      final int limit = mix.scanLength(positive / Mix.OF);
      final int found = session.scan(number, limit);
      wrong += Entries.isEnough(found, number, entries, limit) ? 0 : 1;
    } else {
      session.put(mix.inserts() ? insert++ : number, ++stamp);
    }
    calls++;
  }

  /** Latencies of the last run in nanoseconds; empty if it was not timed. */
  Histogram latencies() {
    return latencies;
  }

  /** Operations of the last run. */
  long calls() {
    return calls;
  }

  /** Reads of the last run that found no value, or not one of their entry. */
  long wrong() {
    return wrong;
  }

  /** Operations in a second of the last run. */
  double perSecond() {
    return calls * 1e9 / Math.max(1, elapsedNs);
  }

  /** Ends the session. */
  void close() {
    session.close();
  }
}
