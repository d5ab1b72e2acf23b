package dev.ringfetch.index.linearizability;

/**
 * The gate before attempts at calls in a {@link KillRun}: knows which life of the server it is, and
 * keeps calls back that must not meet the start of the next one. Safe for use by many threads.
 */
final class KillGate {
  private volatile int life;
  private boolean open; // guarded by this
  private int inside; // guarded by this

  /** The present life of the server, from the end of the one before it on. */
  int life() {
    return life;
  }

  /** Waits until the gate is open; returns the life. {@link #exit} follows. */
  synchronized int enter() throws InterruptedException {
    while (!open) {
      wait();
    }
    inside++;
    return life;
  }

  /** Notes that an attempt has ended. */
  synchronized void exit() {
    inside--;
    notifyAll();
  }

  /** Lets attempts in. */
  synchronized void open() {
    open = true;
    notifyAll();
  }

  /** Notes that the server has ended: begins the next life when all attempts have ended. */
  synchronized void nextLife() throws InterruptedException {
    open = false;
    while (inside > 0) {
      wait();
    }
    life++;
  }
}
