package dev.ringfetch.rdma.verbs;

import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RemoteMemory;
import dev.ringfetch.rdma.natives.CompletionQueues;
import dev.ringfetch.rdma.natives.SendLayout;
import java.io.IOException;

/**
 * The send queue of one side of a session: it rings the peer, too, gives it credit for rings, and
 * probes it. A thread that rings while another posts leaves its ring to the other.
 */
final class SendQueue extends RequestQueue {
  /** The part of {@link #DEPTH} that is reserved for rings, credit and probes. */
  private static final int RESERVED = 32;

  /** Largest number of linked requests. */
  static final int CHAIN = 8;

  private static final int CREDIT_OFFSET = FORMERS_LENGTH;
  private static final int WORDS_LENGTH = CREDIT_OFFSET + 64;

  private final VerbsMemory local;
  private final RemoteMemory remote;

  private final VerbsMemory creditLine;
  private final RemoteMemory peersCreditLine;

  private long postedAtTick;

  /** Written without the guard. */
  private volatile boolean ringWanted;

  /** Read without the guard. */
  private volatile boolean ringOwed;

  private long rung;
  private boolean creditOwed;

  SendQueue(Endpoint endpoint, Introduction.Side peer, WorkRequestTally.Group group)
      throws IOException {
    super(
        new RequestChain(endpoint.queuePair(), CHAIN, new WorkRequestTally(group)),
        endpoint.sendCompletions(),
        endpoint.scratch(WORDS_LENGTH),
        endpoint.maxInline(),
        RESERVED);
    this.local = endpoint.memory();
    this.remote = peer.memory();
    this.peersCreditLine = peer.creditLine();
    this.creditLine = endpoint.creditLine();
  }

  /** Whether a request has failed, as far as completions have been read. */
  boolean isBroken() {
    return failure != null;
  }

  /** Reads the error that broke the connection; null if no request of this side caused it. */
  String readFailure() {
    enter();
    try {
      reap();
      return failure;
    } finally {
      leave();
    }
  }

  /** Posts a WRITE of a range to the same place in the peer's memory. */
  int write(int offset, int length) {
    if (length == 0) {
      return open ? QueuePair.POSTED : QueuePair.CLOSED; // nothing to be done
    }
    return write(
        remote.address() + offset, remote.rkey(), local, offset, length, QueuePair.UNSIGNALED);
  }

  /**
   * Wakes the peer, now or when it has receives again. Never waits.
   *
   * @return false if the ring waits, and the caller has to {@link #sendWaitingRing} later.
   */
  boolean ring() {
    ringWanted = true;
    if (tryEnter()) {
      leave();
    }
    return !ringWanted && !ringOwed;
  }

  /**
   * Lets the peer ring again.
   *
   * @param heard rings that this side has received so far.
   */
  void giveCredit(long heard) {
    enter();
    try {
      // Where it is not inline, a WRITE that is on its way takes the newer number along.
      words.putLongRelease(CREDIT_OFFSET, heard);
      creditOwed = true;
    } finally {
      leave();
    }
  }

  /**
   * Sends the waiting ring, if it can be sent, without waiting for a thread that is posting, which
   * sends it when it leaves. Returns false if the ring still waits.
   */
  boolean sendWaitingRing() {
    if (tryEnter()) {
      leave();
    }
    return !ringWanted && !ringOwed;
  }

  /**
   * To be called now and then: posts an empty WRITE if nothing was posted since the last call, so
   * that the loss of a peer that has vanished silently is noticed.
   */
  void tick() {
    enter();
    try {
      reap();
      if (chain.posted() == postedAtTick) {
        probe();
      }
      postedAtTick = chain.posted();
    } finally {
      leave();
    }
  }

  /** With the guard held. */
  private void probe() {
    if (open && hasRoom(DEPTH)) {
      chain.next(SendLayout.WRITE).empty().remote(remote.address(), remote.rkey());
      chain.link(WorkRequestTally.PROBE, 0, true);
      handOver();
    }
  }

  /**
   * Takes no more requests.
   *
   * @param gracefully whether posted requests shall still be executed; {@link #isDrained} says when
   *     they are.
   */
  void shut(boolean gracefully) {
    enter();
    try {
      reap();
      handOver();
      if (gracefully && open) {
        sendOwed();
        if (!isDone()) {
          probe(); // completes after all of them
          CompletionQueues.arm(completionQueue, false);
        }
      }
      open = false;
    } finally {
      leave();
    }
  }

  /** Whether everything posted has been executed, or never will be. */
  boolean isDrained() {
    enter();
    try {
      reap();
      return failure != null || isDone();
    } finally {
      leave();
    }
  }

  /**
   * Releases the guard, after it has sent rings that other threads asked for meanwhile: those
   * threads do not come back for them.
   */
  @Override
  void leave() {
    do {
      try {
        sendOwed();
      } finally {
        super.leave();
      }
    } while (ringWanted && tryEnter());
  }

  private void sendOwed() {
    if (ringWanted) {
      ringOwed = true; // first: a thread that rang reads both flags
      ringWanted = false;
    }
    if (creditOwed && open && hasRoom(DEPTH)) {
      creditOwed = false;
      chain
          .next(SendLayout.WRITE)
          .local(words.address() + CREDIT_OFFSET, Long.BYTES, words.localKey())
          .remote(peersCreditLine.address(), peersCreditLine.rkey());
      chain.link(WorkRequestTally.CREDIT, inline(Long.BYTES), false);
      handOver();
    }
    if (ringOwed && open && hasCredit() && hasRoom(DEPTH)) {
      ringOwed = false;
      rung++;
      chain.next(SendLayout.SEND).empty();
      chain.link(WorkRequestTally.SEND, 0, false);
      handOver();
    }
  }

  private boolean hasCredit() {
    return rung - creditLine.getLongAcquire(0) < ReceiveQueue.DEPTH;
  }
}
