package dev.ringfetch.rdma.verbs;

import dev.ringfetch.rdma.natives.CompletionLayout;
import dev.ringfetch.rdma.natives.CompletionQueues;
import dev.ringfetch.rdma.natives.QueuePairs;
import dev.ringfetch.rdma.natives.ReceiveLayout;
import dev.ringfetch.rdma.natives.Regions;
import dev.ringfetch.rdma.natives.Request;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The receives of a connection, posted before the peer can send: a message that finds no receive is
 * repeated only after 655 ms. A ring is an empty message, and nothing else is sent. A side may have
 * sent {@value #DEPTH} of them more than the peer has posted anew since; how many these are, the
 * peer WRITEs into the side's credit line, at every {@value #CREDIT}th. The first message of the
 * side that accepts is its greeting: it knows of the connection now.
 *
 * <p>Belongs to the thread that sets the connection up, then to the one that owns the doorbell.
 */
final class ReceiveQueue {
  /** Receives posted. */
  static final int DEPTH = 64;

  private static final int CREDIT = DEPTH / 4;

  /** The result of {@link #take}. */
  enum Arrival {
    NOTHING,
    RINGS,
    /** The queue pair is in error, and nothing more will come. */
    BROKEN
  }

  private final long queuePair;
  private final long completionQueue;
  private final ByteBuffer receives = Request.direct(DEPTH * ReceiveLayout.SIZE);
  private final ByteBuffer taken = Request.direct(DEPTH * CompletionLayout.SIZE);
  private long heard;
  private long credited; // rings that the peer knows to have been received
  private boolean broken;

  /** Posts the receives of a queue pair whose connection is not made yet. */
  ReceiveQueue(Endpoint endpoint) throws IOException {
    this.queuePair = endpoint.queuePair();
    this.completionQueue = endpoint.receiveCompletions();
    for (int i = 0; i < DEPTH; i++) {
      link(i);
    }
    if (!post(DEPTH)) {
      throw new IOException("receives were refused");
    }
  }

  private void link(int index) {
    receives.putLong(
        index * ReceiveLayout.SIZE + ReceiveLayout.NEXT,
        index == DEPTH - 1 ? 0 : Regions.address(receives) + (index + 1L) * ReceiveLayout.SIZE);
  }

  private boolean post(int count) {
    receives.putLong((count - 1) * ReceiveLayout.SIZE + ReceiveLayout.NEXT, 0);
    final long result = QueuePairs.postReceive(queuePair, Regions.address(receives));
    link(count - 1);
    return result == 0;
  }

  /** Takes the greeting, and nothing beyond it. Returns whether it was there. */
  boolean takeGreeting() throws IOException {
    final int count = CompletionQueues.poll(completionQueue, 1, Regions.address(taken));
    if (count == 0) {
      return false;
    }
    if (count < 0 || taken.getInt(CompletionLayout.STATUS) != CompletionLayout.SUCCESS) {
      throw new IOException("the queue pair is in error");
    }
    heard++;
    broken = !post(1);
    return true;
  }

  /**
   * Requests an event at the doorbell's channel for the next arrival; to be followed by {@link
   * #take}.
   */
  void arm() {
    CompletionQueues.arm(completionQueue, false);
  }

  /**
   * Takes what has arrived, and posts as many receives anew.
   *
   * @param sendQueue that sends the peer the number of these.
   */
  Arrival take(SendQueue sendQueue) {
    if (broken) {
      return Arrival.BROKEN;
    }
    final int count = CompletionQueues.poll(completionQueue, DEPTH, Regions.address(taken));
    int rings = 0;
    for (int i = 0; i < count; i++) {
      final int status = taken.getInt(i * CompletionLayout.SIZE + CompletionLayout.STATUS);
      rings += status == CompletionLayout.SUCCESS ? 1 : 0;
    }
    broken = count != rings || (rings > 0 && !post(rings));
    heard += rings;
    if (heard - credited >= CREDIT && !broken) {
      credited = heard;
      sendQueue.giveCredit(heard);
    }
    return rings > 0 ? Arrival.RINGS : broken ? Arrival.BROKEN : Arrival.NOTHING;
  }
}
