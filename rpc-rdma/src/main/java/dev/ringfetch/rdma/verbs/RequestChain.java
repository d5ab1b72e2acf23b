package dev.ringfetch.rdma.verbs;

import dev.ringfetch.rdma.natives.QueuePairs;
import dev.ringfetch.rdma.natives.Request;
import dev.ringfetch.rdma.natives.SendLayout;

/**
 * The requests of a send queue that are linked, to be handed to the device together. Requests are
 * numbered; at least one of {@value #SIGNAL_INTERVAL} asks the device for a completion, which
 * stands for all before it. The queue's guard guards it.
 */
final class RequestChain {
  private static final int SIGNAL_INTERVAL = 64;

  private final long queuePair;
  private final WorkRequestTally tally;
  private final Request[] chain;
  private int linked;
  private long posted;
  private int unsignaled;
  private long doorbells;

  /**
   * Creates an empty chain.
   *
   * @param capacity largest number of linked requests.
   */
  RequestChain(long queuePair, int capacity, WorkRequestTally tally) {
    this.queuePair = queuePair;
    this.tally = tally;
    chain = new Request[capacity];
    for (int i = 0; i < capacity; i++) {
      chain[i] = new Request(SendLayout.WRITE);
    }
  }

  /** The request to be linked next; not while the chain {@link #isFull}. */
  Request next(int opcode) {
    return chain[linked].opcode(opcode);
  }

  /** Numbers the next request, and links it behind those before. */
  void link(int kind, int flags, boolean wanted) {
    final boolean signaled = wanted || unsignaled == SIGNAL_INTERVAL - 1;
    final Request request = chain[linked];
    request.id(posted).flags(signaled ? flags | SendLayout.SIGNALED : flags).next(null);
    if (linked > 0) {
      chain[linked - 1].next(request);
    }
    linked++;
    posted++;
    unsignaled = signaled ? 0 : unsignaled + 1;
    tally.add(kind, signaled);
  }

  WorkRequestTally tally() {
    return tally;
  }

  boolean isEmpty() {
    return linked == 0;
  }

  boolean isFull() {
    return linked == chain.length;
  }

  /** Number of the next request. */
  long posted() {
    return posted;
  }

  /** Times that requests were handed to the device. */
  long doorbells() {
    return doorbells;
  }

  /** Forgets the linked requests, which then never reach the device. */
  void clear() {
    linked = 0;
  }

  /** Posts the linked requests, at least one, in one call; returns what the device says. */
  long handOver() {
    linked = 0;
    doorbells++;
    return QueuePairs.postSend(queuePair, chain[0].address());
  }
}
