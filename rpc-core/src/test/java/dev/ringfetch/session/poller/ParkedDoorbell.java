package dev.ringfetch.session.poller;

import dev.ringfetch.fabric.Doorbell;
import java.util.concurrent.Semaphore;

/** A doorbell that nobody but its owner's own side rings: sleeps until it is woken. */
public final class ParkedDoorbell implements Doorbell {
  private final Semaphore wakeups = new Semaphore(0);

  @Override
  public int poll() {
    return 0;
  }

  @Override
  public int await(long timeoutNs) {
    wakeups.acquireUninterruptibly();
    return 0;
  }

  @Override
  public void wakeup() {
    wakeups.release();
  }

  @Override
  public void close() {}
}
