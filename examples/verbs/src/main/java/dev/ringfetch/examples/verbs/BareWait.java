package dev.ringfetch.examples.verbs;

import java.util.concurrent.TimeUnit;

/** A polling wait with a time limit: yields now and then. One thread; reused. */
final class BareWait {
  private static final int SPINS = 1024;

  private final long limitNs;
  private final String what;
  private long startNs;
  private int spins;

  /**
   * Creates a wait that fails after a time.
   *
   * @param seconds after which a wait has failed.
   * @param what the awaited thing, for the message.
   */
  BareWait(int seconds, String what) {
    this.limitNs = TimeUnit.SECONDS.toNanos(seconds);
    this.what = what;
  }

  /** Begins a wait. The clock is looked at only once it lasts. */
  void begin() {
    spins = 0;
    startNs = 0;
  }

  /**
   * Looks at nothing for a moment.
   *
   * @throws IllegalStateException when the wait is over.
   */
  @SuppressWarnings("ThreadPriorityCheck") // a NIC in software may need this processor
  void pause() {
    if (++spins % SPINS != 0) {
      Thread.onSpinWait();
      return;
    }
    Thread.yield();
    final long nowNs = System.nanoTime();
    if (startNs == 0) {
      startNs = nowNs;
    } else if (nowNs - startNs > limitNs) {
      throw new IllegalStateException("timeout: " + what);
    }
  }
}
