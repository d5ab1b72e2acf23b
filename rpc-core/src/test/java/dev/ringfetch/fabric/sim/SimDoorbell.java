package dev.ringfetch.fabric.sim;

import dev.ringfetch.fabric.Doorbell;
import dev.ringfetch.fabric.QueuePair;
import java.io.IOException;
import java.util.ArrayDeque;

/** Tells its owner what has come for it, one after the other. */
public final class SimDoorbell implements Doorbell {
  private final SimNetwork network;
  private final ArrayDeque<Runnable> news = new ArrayDeque<>();
  private boolean woken;
  private long changes;
  private volatile boolean closed;

  SimDoorbell(SimNetwork network) {
    this.network = network;
  }

  boolean isClosed() {
    return closed;
  }

  /** True when {@link #await} would not sleep. */
  public boolean isRung() {
    return woken || closed || !news.isEmpty();
  }

  /** Grows with whatever a poller of this doorbell may find new. */
  public long changes() {
    return changes;
  }

  /** Something was placed in memory of a connection, or a work request is done. */
  void change() {
    changes++;
  }

  void arrived(SimOffer offer, QueuePair queuePair) {
    add(
        () -> {
          synchronized (network) {
            offer.accept();
            network.changed();
          }
          try {
            offer.listener().onConnected(queuePair);
          } catch (Throwable t) {
            report(t);
            queuePair.close();
          }
        });
  }

  /** Something to be told; with the lock held. */
  void add(Runnable one) {
    news.add(one);
    change();
    network.changed();
  }

  /** Hands what a listener threw to the thread's handler. */
  static void report(Throwable thrown) {
    final Thread thread = Thread.currentThread();
    thread.getUncaughtExceptionHandler().uncaughtException(thread, thrown);
  }

  @Override
  public int await(long timeoutNs) throws IOException {
    int told = poll();
    if (told == 0) {
      synchronized (network) {
        network.await(this::isRung, timeoutNs);
        woken = false;
      }
      told = closed ? 0 : poll();
    }
    return told;
  }

  @Override
  public int poll() throws IOException {
    int told = 0;
    Runnable one;
    while ((one = next()) != null) {
      one.run(); // without the lock: it may wait
      told++;
    }
    return told;
  }

  private Runnable next() throws IOException {
    synchronized (network) {
      if (closed) {
        throw new IOException("the doorbell is closed");
      }
      network.pump();
      return news.poll();
    }
  }

  @Override
  public void wakeup() {
    synchronized (network) {
      woken = true;
      network.changed();
    }
  }

  @Override
  public void close() {
    synchronized (network) {
      closed = true;
      network.changed();
    }
  }
}
