package dev.ringfetch.session;

import dev.ringfetch.session.poller.Poller;
import dev.ringfetch.session.poller.SpinPace;
import java.io.IOException;
import org.agrona.concurrent.NanoClock;

/**
 * The polling of blocking callers: the thread that waits for a response becomes the owner of the
 * session for a while, so that no other thread needs to be woken on the way.
 */
final class CallerPolling {
  private static final int ACQUIRE_TRIES = 100;

  private final Session session;
  private final SessionDriver driver;
  private final Poller poller;
  private final Notifications notifications;
  private final NanoClock clock;
  private final SpinPace spin; // used by the session's owner

  CallerPolling(Session session) {
    this.session = session;
    this.driver = session.driver;
    this.poller = session.poller;
    this.notifications = session.notifications;
    this.clock = session.clock;
    this.spin = new SpinPace(session.spinNs);
  }

  /** See {@link ClientSession#sendAndPoll}. */
  void sendAndPoll(ClientStream stream) {
    if (poller.isCurrentThread()) {
      pollNested(stream, false);
      return;
    }
    if (poller.tasks().retake()) {
      try {
        pollNested(stream, true);
      } finally {
        poller.tasks().lendAgain();
      }
      return;
    }
    driver.submit(stream, ClientStream.SEND);
    int tries = 0;
    while (!driver.tryAcquire()) {
      if (++tries > ACQUIRE_TRIES) {
        driver.drive();
        return;
      }
      Thread.onSpinWait();
    }
    if (!poll(stream)) {
      driver.drive();
    }
  }

  /**
   * Polls for a task or callback that waits on the poller's own thread: no other thread polls, or
   * not yet.
   *
   * @param mayLeave whether it may leave before the answer: other tasks wait, and the lease can be
   *     given up again.
   */
  private void pollNested(ClientStream stream, boolean mayLeave) {
    final int id = stream.id;
    final boolean before = poller.beginNested();
    try {
      driver.submit(stream, ClientStream.SEND);
      driver.drive();
      while (!stream.ended
          && stream.flow == null // otherwise the thread has to take the units
          && stream.id == id // otherwise it belongs to another call by now
          && !session.hasEnded()
          && !Thread.currentThread().isInterrupted()
          && !(mayLeave && poller.tasks().isNestedLong())) {
        poller.serveNested();
      }
    } catch (IOException e) {
      session.end("doorbell failed: " + e.getMessage());
    } finally {
      poller.endNested(before);
    }
  }

  /**
   * Sends and polls as the owner, then leaves. The time counts from the sending of the request:
   * reading the clock again would take longer than that. False when there is more to do.
   */
  private boolean poll(ClientStream stream) {
    boolean over = false;
    boolean sent = false;
    long sentNs = 0;
    while (!over) {
      try {
        if (!sent) {
          sent = true;
          round();
          sentNs = clock.nanoTime();
        }
        over = pollUntilNews(stream, sentNs);
        session.memoryGuard.verify();
      } catch (Throwable t) { // see Ending.failed
        session.ending.failed(t);
        break;
      }
      if (!over) {
        driver.releaseAndTell();
        if (!driver.tryAcquire()) {
          return true; // another thread is the poller's driver now
        }
      }
    }
    return !driver.leave();
  }

  private void round() {
    driver.disarm();
    session.work(true);
  }

  /**
   * Polls as the owner.
   *
   * @return true when the stream or the time has ended, false when notifications have to be
   *     delivered first.
   */
  private boolean pollUntilNews(ClientStream stream, long sentNs) {
    final Thread thread = Thread.currentThread();
    while (!stream.ended && stream.flow == null) { // also by the session's end
      if (clock.nanoTime() - sentNs >= spin.boundNs()) {
        spin.missed();
        return true;
      }
      if (thread.isInterrupted()) {
        return true;
      }
      if (notifications.hasCalls()) {
        return false;
      }
      Thread.onSpinWait();
      round();
    }
    spin.found();
    return true;
  }
}
