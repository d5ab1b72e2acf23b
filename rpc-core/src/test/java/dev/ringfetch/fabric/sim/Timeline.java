package dev.ringfetch.fabric.sim;

import java.util.PriorityQueue;
import java.util.SplittableRandom;
import org.agrona.concurrent.NanoClock;

/**
 * Virtual time and what happens in it, all drawn from one seed. The same seed gives the same steps;
 * a hash over them, the trace, tells whether it did.
 *
 * <p>Looking at the clock takes time, so that a loop that waits for a time ends.
 */
public final class Timeline implements NanoClock {
  private static final long START_NS = 1_000_000_000L;
  private static final long LOOK_NS = 5;
  private static final int KEPT = 256; // a power of two

  private final long seed;
  private final SplittableRandom random;
  private final PriorityQueue<Event> events = new PriorityQueue<>();
  private final String[] lastWhat = new String[KEPT];
  private final long[] lastDetail = new long[KEPT];
  private final long[] lastNs = new long[KEPT];

  private long nowNs = START_NS;
  private long scheduled;
  private long steps;
  private long trace = 1;

  private record Event(long timeNs, long order, String what, Runnable action)
      implements Comparable<Event> {
    @Override
    public int compareTo(Event other) {
      final int byTime = Long.compare(timeNs, other.timeNs);
      return byTime != 0 ? byTime : Long.compare(order, other.order);
    }
  }

  /** Begins at the same time for every seed. */
  public Timeline(long seed) {
    this.seed = seed;
    this.random = new SplittableRandom(seed);
  }

  /** What everything is drawn from. */
  public long seed() {
    return seed;
  }

  /** The source of everything that is drawn. */
  public SplittableRandom random() {
    return random;
  }

  /** True once in so many times. */
  public boolean oneIn(int times) {
    return random.nextInt(times) == 0;
  }

  @Override
  public long nanoTime() {
    nowNs += LOOK_NS;
    return nowNs;
  }

  /** The time, without looking at the clock. */
  public long nowNs() {
    return nowNs;
  }

  /** Lets time pass. */
  public void pass(long nanos) {
    nowNs += nanos;
  }

  /** Lets time pass until then, if it is not later already. */
  public void passUntil(long timeNs) {
    nowNs = Math.max(nowNs, timeNs);
  }

  /** Has something happen after a delay. Of the same time, the earlier scheduled comes first. */
  public void after(long delayNs, String what, Runnable action) {
    events.add(new Event(nowNs + delayNs, scheduled++, what, action));
  }

  /** Time of the next event, or {@link Long#MAX_VALUE}. */
  public long nextNs() {
    final Event next = events.peek();
    return next == null ? Long.MAX_VALUE : next.timeNs;
  }

  /** True when the next event's time has come. */
  public boolean isDue() {
    return nextNs() <= nowNs;
  }

  /** Has the next event happen, whenever that is; false when there is none. */
  public boolean runNext() {
    final Event next = events.poll();
    if (next == null) {
      return false;
    }
    passUntil(next.timeNs);
    note(next.what, 0);
    next.action.run();
    return true;
  }

  /** Takes down a step. */
  public void note(String what, long detail) {
    final int index = (int) (steps++ & (KEPT - 1));
    lastWhat[index] = what;
    lastDetail[index] = detail;
    lastNs[index] = nowNs;
    trace = (trace ^ what.hashCode() ^ (detail * 0x9E3779B97F4A7C15L) ^ nowNs) * 0x100000001B3L;
    trace ^= trace >>> 29;
  }

  /** Steps taken down. */
  public long steps() {
    return steps;
  }

  /** Hash of all steps, their times and details. */
  public long trace() {
    return trace;
  }

  /** The last steps, a line each, the oldest first. */
  public String lastSteps() {
    final StringBuilder lines = new StringBuilder();
    for (long step = Math.max(0, steps - KEPT); step < steps; step++) {
      final int index = (int) (step & (KEPT - 1));
      lines.append("  ").append(step).append(" at ").append(lastNs[index] - START_NS);
      lines.append(" ns: ").append(lastWhat[index]);
      lines.append(' ').append(lastDetail[index]).append('\n');
    }
    return lines.toString();
  }
}
