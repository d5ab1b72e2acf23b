package dev.ringfetch.session;

import java.io.IOException;
import org.agrona.concurrent.NanoClock;

/**
 * Callers that block, and poll for themselves: the thread that waits for a response becomes the
 * owner of the session for a while, so that no other needs to be woken on the way.
 */
final class CallerPolling {
  private static final int ACQUIRE_TRIES = 100;

  private final ClientSession session;
  private final Duty duty;
  private final Poller poller;
  private final News news;
  private final NanoClock clock;
  private final SpinPace spin; // the session's owner's

  CallerPolling(ClientSession session) {
    this.session = session;
    this.duty = session.duty;
    this.poller = session.poller;
    this.news = session.news;
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
    duty.submit(stream, ClientStream.SEND);
    int tries = 0;
    while (!duty.tryAcquire()) {
      if (++tries > ACQUIRE_TRIES) {
        duty.drive();
        return;
      }
      Thread.onSpinWait();
    }
    if (!poll(stream)) {
      duty.drive();
    }
  }

  /**
   * A task or callback in the poller's own thread waits: nobody else would poll, or not yet.
   *
   * @param mayLeave before the answer, since the duty can be lent again: others are in line.
   */
  private void pollNested(ClientStream stream, boolean mayLeave) {
    final int id = stream.id;
    final boolean before = poller.beginNested();
    try {
      duty.submit(stream, ClientStream.SEND);
      duty.drive();
      while (!stream.ended
          && stream.flow == null // otherwise the thread has to take what comes
          && stream.id == id // otherwise it is another call's by now
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
   * Sends and polls as the owner, then leaves. The time counts from when the request was sent: to
   * look at the clock takes longer than that. False when there is more to do.
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
        session.guard.verify();
      } catch (Throwable t) { // see Ending.failed
        session.ending.failed(t);
        break;
      }
      if (!over) {
        duty.releaseAndTell();
        if (!duty.tryAcquire()) {
          return true; // the duty has passed to another thread
        }
      }
    }
    return !duty.leave();
  }

  private void round() {
    duty.disarm();
    session.work(true);
  }

  /**
   * Polls as the owner.
   *
   * @return true when the stream or the time has ended, false when others are to be told first.
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
      if (news.hasCalls()) {
        return false;
      }
      Thread.onSpinWait();
      round();
    }
    spin.found();
    return true;
  }
}
