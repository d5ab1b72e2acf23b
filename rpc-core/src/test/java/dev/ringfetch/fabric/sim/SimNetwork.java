package dev.ringfetch.fabric.sim;

import dev.ringfetch.fabric.FabricCapabilities;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;

/**
 * Processes that reach each other through a simulated fabric, and the one timeline of all.
 *
 * <p>With a {@link SimContext#preemption} the caller runs the timeline, and nobody waits for
 * anything: everything is one thread's. Without one, threads wait in real time, and a thread that
 * polls or waits runs everything that is due, later or not: the contract of fabrics runs in this
 * way. With a {@link SimEngine} they wait in real time for what happens step by step in its thread.
 */
public final class SimNetwork {
  private static final int PREEMPTION_INTERVAL = 24; // ordered accesses, on average

  private final Timeline timeline;
  private final SimContext context;
  private final FabricCapabilities capabilities;
  private final Map<Long, SimOffer> offers = new TreeMap<>();
  private final Map<Long, SimDomain> domains = new TreeMap<>();
  private final List<SimRegion> regions = new ArrayList<>();
  private final List<String> violations = new ArrayList<>();
  private final Strays strays = new Strays();
  private long lastId;

  /** Creates a network without processes. */
  public SimNetwork(Timeline timeline, SimContext context) {
    this.timeline = timeline;
    this.context = context;
    this.capabilities = capabilities(0);
  }

  private FabricCapabilities capabilities(int maxDatagram) {
    return new FabricCapabilities(
            context.writeOrder(), context.readAtomicity(), context.loadStore(), 0, maxDatagram)
        .ordered(context.readAfterWrite(), context.readAfterRead());
  }

  /** A process that can be reached from now on. */
  public SimFabric open() {
    return new SimFabric(this);
  }

  /** What nobody may do and somebody did. */
  public List<String> violations() {
    return violations;
  }

  /** The views whose stores may not all be visible. */
  public List<SimRegion> regions() {
    return regions;
  }

  Timeline timeline() {
    return timeline;
  }

  SimContext context() {
    return context;
  }

  /** What a connection may rely on. */
  FabricCapabilities capabilities(boolean datagrams) {
    return datagrams ? capabilities(context.maxDatagram()) : capabilities;
  }

  Strays strays() {
    return strays;
  }

  Map<Long, SimOffer> offers() {
    return offers;
  }

  Map<Long, SimDomain> domains() {
    return domains;
  }

  long nextId() {
    return ++lastId;
  }

  void violation(String what) {
    violations.add(what);
  }

  /** Draws the order of stores; null for that of the program. */
  RandomGenerator storeOrder() {
    return context.storeOrder() == SimContext.StoreOrder.TOTAL ? null : timeline.random();
  }

  boolean isDriven() {
    return context.preemption() != null;
  }

  /** Others may come between here. */
  void preempt() {
    if (isDriven() && timeline.oneIn(PREEMPTION_INTERVAL)) {
      context.preemption().run();
    }
  }

  /** Some delay, in nanoseconds. */
  long delayNs() {
    return 1 + timeline.random().nextLong(context.maxDelayNs());
  }

  /** Has everything happen that is under way, where no caller drives the timeline. */
  void pump() {
    if (!isDriven() && !context.engine()) {
      do {
        regions.forEach(SimRegion::drain);
      } while (timeline.runNext());
    }
  }

  /** Has the next thing happen; false when nothing is under way. With the lock held. */
  boolean step() {
    regions.forEach(SimRegion::drain);
    return timeline.runNext();
  }

  /** Waits in real time; not at all where a caller drives the timeline. With the lock held. */
  boolean await(BooleanSupplier condition, long timeoutNs) {
    final long startNs = System.nanoTime();
    while (!isMet(condition)) {
      if (isDriven() || Thread.currentThread().isInterrupted()) {
        return false;
      }
      final long leftNs = timeoutNs - (System.nanoTime() - startNs);
      if (leftNs <= 0) {
        return false;
      }
      try {
        wait(Math.min(leftNs, Integer.MAX_VALUE) / 1_000_000 + 1);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    return true;
  }

  private boolean isMet(BooleanSupplier condition) {
    pump();
    return condition.getAsBoolean();
  }

  /** Something has happened that a thread may wait for. With the lock held. */
  void changed() {
    if (!isDriven()) {
      notifyAll();
    }
  }
}
