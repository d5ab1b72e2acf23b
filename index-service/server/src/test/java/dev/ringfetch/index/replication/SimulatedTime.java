package dev.ringfetch.index.replication;

import java.util.PriorityQueue;
import java.util.Random;

/** The time of a simulation: actions are run one after the other, at the moments that they have. */
final class SimulatedTime {
  private final PriorityQueue<Timed> actions = new PriorityQueue<>();
  private final Random random;
  private long nowNs = 1_000_000_000;
  private long actionsSoFar;

  private record Timed(long ns, long number, Runnable action) implements Comparable<Timed> {
    @Override
    public int compareTo(Timed other) {
      return ns != other.ns ? Long.compare(ns, other.ns) : Long.compare(number, other.number);
    }
  }

  SimulatedTime(Random random) {
    this.random = random;
  }

  long nowNs() {
    return nowNs;
  }

  Random random() {
    return random;
  }

  void after(long ns, Runnable action) {
    at(nowNs + ns, action);
  }

  void at(long ns, Runnable action) {
    actions.add(new Timed(Math.max(ns, nowNs), actionsSoFar++, action));
  }

  /** Runs the actions of the next so many nanoseconds. */
  void run(long ns) {
    final long endNs = nowNs + ns;
    while (!actions.isEmpty() && actions.peek().ns() <= endNs) {
      final Timed next = actions.poll();
      nowNs = next.ns();
      next.action().run();
    }
    nowNs = endNs;
  }

  /** A delay of a message: mostly short, now and then long. */
  long delayNs() {
    final int choice = random.nextInt(100);
    final long most = choice < 90 ? 400_000 : choice < 99 ? 5_000_000 : 120_000_000;
    return 20_000 + (long) (random.nextDouble() * most);
  }

  boolean oneIn(int n) {
    return random.nextInt(n) == 0;
  }
}
