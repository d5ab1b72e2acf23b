package dev.ringfetch.rdma.verbs;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Receives that are posted before the peer can send: of a message without one the peer would hear
 * nothing for 655 ms. A ring is an empty message. A side sends {@value #RINGS} of them and then as
 * many as it was given back, by messages of {@value #CREDIT_LENGTH} bytes of which each stands for
 * {@value #CREDIT} receives.
 *
 * <p>A side that has no receive to send to has rung {@value #RINGS} times unheard, so it is given
 * some back when the peer hears the {@value #CREDIT}th of these, and rings then: no ring is lost.
 * Belongs to the thread that owns the doorbell.
 */
final class ReceiveQueue {
  /** Rings that a side may have sent unheard. */
  static final int RINGS = 8;

  /** Receives that one message gives back. */
  static final int CREDIT = RINGS / 2;

  /** Length in bytes of a message that gives receives back; that of a ring is 0. */
  static final int CREDIT_LENGTH = 8;

  /** Receives posted: for the rings, and for as many messages that give back as can be on the way. */
  static final int DEPTH = RINGS + RINGS / CREDIT;

  /** Result of {@link #take}: nothing has come. */
  static final int NOTHING = 0;

  /** Result of {@link #take}: a ring, at least. */
  static final int RING = 1;

  /** Result of {@link #take}: messages, but no ring. */
  static final int OTHER = 2;

  /** Result of {@link #take}: the queue pair is in error, and nothing more will come. */
  static final int BROKEN = -1;

  private static final int LANDING_LENGTH = 64;

  private final long queuePair;
  private final long completionQueue;
  private final ByteBuffer receives = Request.direct(DEPTH * ReceiveLayout.SIZE);
  private final ByteBuffer piece = Request.direct(ScatterLayout.SIZE);
  private final ByteBuffer taken = Request.direct(DEPTH * CompletionLayout.SIZE);
  private int heard; // rings whose receives were not given back yet
  private boolean broken;

  /** Prepares the receives. What lands there, nobody reads. */
  ReceiveQueue(Endpoint endpoint) throws IOException {
    this.queuePair = endpoint.queuePair();
    this.completionQueue = endpoint.receiveCompletions();
    VerbsMemory landing = endpoint.scratch(LANDING_LENGTH);
    piece
        .putLong(ScatterLayout.ADDRESS, landing.address())
        .putInt(ScatterLayout.LENGTH, CREDIT_LENGTH)
        .putInt(ScatterLayout.KEY, landing.localKey());
    for (int i = 0; i < DEPTH; i++) {
      receives
          .putLong(i * ReceiveLayout.SIZE + ReceiveLayout.SCATTER, Regions.address(piece))
          .putInt(i * ReceiveLayout.SIZE + ReceiveLayout.SCATTER_COUNT, 1);
      link(i);
    }
  }

  private void link(int index) {
    receives.putLong(
        index * ReceiveLayout.SIZE + ReceiveLayout.NEXT,
        index == DEPTH - 1 ? 0 : Regions.address(receives) + (index + 1L) * ReceiveLayout.SIZE);
  }

  /** Posts all of them: once, before the connection is made. */
  void post() throws IOException {
    if (!post(DEPTH)) {
      throw new IOException("receives were refused");
    }
  }

  private boolean post(int count) {
    int last = (count - 1) * ReceiveLayout.SIZE + ReceiveLayout.NEXT;
    receives.putLong(last, 0);
    long result = QueuePairs.postReceive(queuePair, Regions.address(receives));
    link(count - 1);
    return result == 0;
  }

  /** Has the doorbell's channel told of the next arrival; to be followed by {@link #take}. */
  void arm() {
    CompletionQueues.arm(completionQueue, false);
  }

  /**
   * Takes what has arrived, at most as much as there are receives, and posts these anew.
   *
   * @param sendQueue to which what was given back goes, and which gives back.
   * @return {@link #NOTHING}, {@link #RING}, {@link #OTHER} or {@link #BROKEN}.
   */
  int take(SendQueue sendQueue) {
    if (broken) {
      return BROKEN;
    }
    int count = CompletionQueues.poll(completionQueue, DEPTH, Regions.address(taken));
    int rings = 0;
    int credits = 0;
    broken = count < 0;
    for (int i = 0; i < count; i++) {
      int at = i * CompletionLayout.SIZE;
      if (taken.getInt(at + CompletionLayout.STATUS) != CompletionLayout.SUCCESS) {
        broken = true;
      } else if (taken.getInt(at + CompletionLayout.LENGTH) == 0) {
        rings++;
      } else {
        credits++;
      }
    }
    if (count > 0 && !broken) {
      broken = !post(count);
    }
    for (int i = 0; i < credits; i++) {
      sendQueue.onCredit(CREDIT);
    }
    for (heard += rings; heard >= CREDIT && !broken; heard -= CREDIT) {
      sendQueue.giveCredit();
    }
    return rings > 0 ? RING : broken ? BROKEN : count > 0 ? OTHER : NOTHING;
  }
}
