package dev.ringfetch.fabric.sim;

import java.util.concurrent.locks.LockSupport;

/**
 * A thread that has things happen in a network, as a network card does: one step of a work request,
 * a ring or an end, then the next, while the threads of both sides run. What is written and what is
 * read is torn wherever they come between two steps.
 */
public final class SimEngine implements AutoCloseable {
  private static final int PAUSE_INTERVAL = 16; // steps, on average
  private static final long PAUSE_NS = 1_000;

  private final SimNetwork network;
  private final Thread thread = new Thread(this::run, "sim-engine");
  private boolean closed; // guarded by the network

  private SimEngine(SimNetwork network) {
    this.network = network;
  }

  /** Runs a network of which {@link SimContext#engine} is set. */
  public static SimEngine start(SimNetwork network) {
    final SimEngine engine = new SimEngine(network);
    engine.thread.setDaemon(true);
    engine.thread.start();
    return engine;
  }

  private void run() {
    try {
      while (stepOrWait()) {}
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean stepOrWait() throws InterruptedException {
    final boolean pause;
    synchronized (network) {
      while (!closed && !network.step()) {
        network.wait();
      }
      pause = network.timeline().oneIn(PAUSE_INTERVAL);
      if (closed) {
        return false;
      }
    }
    if (pause) { // a thread that waits for the lock comes first
      LockSupport.parkNanos(PAUSE_NS);
    }
    return true;
  }

  /** Nothing happens any more. */
  @Override
  public void close() {
    synchronized (network) {
      closed = true;
      network.notifyAll();
    }
  }
}
