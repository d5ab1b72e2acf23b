package dev.ringfetch.fabric;

import java.util.ArrayList;
import java.util.List;

/** A doorbell that never sleeps: {@link #await} delivers what is there and returns. */
public final class HeapDoorbell implements Doorbell {
  private final List<HeapQueuePair> queuePairs = new ArrayList<>();
  private Runnable inLook = () -> {};
  private long lastTimeoutNs;
  private int awaits;
  private volatile boolean held;
  private volatile int wakeups;
  private volatile boolean closed;

  /** Adds a queue pair whose rings and end are told here. */
  public void add(HeapQueuePair queuePair) {
    queuePairs.add(queuePair);
  }

  /** While held, nothing is delivered: what happened stays under way. */
  public void hold(boolean hold) {
    held = hold;
  }

  /** Does this in every look for what is there. */
  public void inLook(Runnable action) {
    inLook = action;
  }

  /** How often the owner wanted to sleep. */
  public int awaits() {
    return awaits;
  }

  /** For how long the owner wanted to sleep the last time. */
  public long lastTimeoutNs() {
    return lastTimeoutNs;
  }

  /** How often somebody woke the owner. */
  public int wakeups() {
    return wakeups;
  }

  /** True when the owner closed it. */
  public boolean isClosed() {
    return closed;
  }

  @Override
  public int await(long timeoutNs) {
    awaits++;
    lastTimeoutNs = timeoutNs;
    return poll();
  }

  @Override
  public int poll() {
    inLook.run();
    int events = 0;
    for (int i = 0; !held && i < queuePairs.size(); i++) {
      events += queuePairs.get(i).deliver();
    }
    return events;
  }

  @Override
  public synchronized void wakeup() {
    wakeups++;
  }

  @Override
  public void close() {
    closed = true;
  }
}
