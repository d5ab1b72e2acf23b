package dev.ringfetch.rdma.verbs;

import dev.ringfetch.fabric.CompletionQueue;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.fabric.RemoteMemory;
import dev.ringfetch.rdma.natives.CompletionLayout;
import dev.ringfetch.rdma.natives.CompletionQueues;
import dev.ringfetch.rdma.natives.Errors;
import dev.ringfetch.rdma.natives.QueuePairs;
import dev.ringfetch.rdma.natives.Regions;
import dev.ringfetch.rdma.natives.Request;
import dev.ringfetch.rdma.natives.SendLayout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The send queue of one side: posts requests, which execute in the order of their numbers, and
 * takes their completions.
 *
 * <p>While it is corked, the owner's requests are linked in a {@link RequestChain}, and handed to
 * the device together: by {@link #uncork}, by a request that this class posts of its own, or when
 * the chain is full.
 *
 * <p>Posts and polls are short and exclude each other: a thread that finds another inside spins,
 * except a thread that rings, which leaves its ring to the other. {@link #poll} runs handlers in
 * one thread at a time; the rest may be called from any thread.
 */
final class SendQueue implements CompletionQueue {
  /** Requests that the device has room for; a power of two. */
  static final int DEPTH = 256;

  /** The part of {@link #DEPTH} that is reserved for rings, credit and probes. */
  private static final int RESERVED = 32;

  /** Largest number of linked requests. */
  static final int CHAIN = 8;

  /** Largest number of completions that one poll takes. */
  private static final int BATCH = 16;

  private static final int SPINS = 1000;

  private static final int CREDIT_OFFSET = DEPTH * Long.BYTES;
  private static final int WORDS_LENGTH = CREDIT_OFFSET + 64;

  private final WorkRequestTally tally = new WorkRequestTally();
  private final WorkRequestTally.Group group;
  private final long completionQueue;
  private final int maxInline;
  private final VerbsMemory local;
  private final RemoteMemory remote;

  /** Memory for the former words of atomics, by the request's number; last, the credit to send. */
  private final VerbsMemory words;

  private final VerbsMemory creditLine;
  private final RemoteMemory peersCreditLine;

  private final RequestChain chain;
  private final AskedCompletions completions;
  private final ByteBuffer taken = Request.direct(BATCH * CompletionLayout.SIZE);
  private final long takenAddress = Regions.address(taken);

  /**
   * Set while a thread posts or polls; guards every field below whose comment names no other rule.
   */
  private final AtomicBoolean busy = new AtomicBoolean();

  private boolean open = true;
  private boolean released;
  private volatile String failure; // read without the guard
  private long done; // all before it have completed
  private long postedAtTick;

  private volatile boolean ringWanted; // without the guard
  private volatile boolean ringOwed; // read without the guard
  private long rung;
  private boolean creditOwed;

  private boolean corked; // the owner's, without the guard
  private boolean waiting; // the owner's: it has linked something since it corked

  SendQueue(Endpoint endpoint, Introduction.Side peer, WorkRequestTally.Group group)
      throws IOException {
    this.completionQueue = endpoint.sendCompletions();
    this.maxInline = endpoint.maxInline();
    this.local = endpoint.memory();
    this.remote = peer.memory();
    this.peersCreditLine = peer.creditLine();
    this.creditLine = endpoint.creditLine();
    this.words = endpoint.scratch(WORDS_LENGTH);
    this.group = group;
    this.chain = new RequestChain(endpoint.queuePair(), CHAIN, tally);
    this.completions = new AskedCompletions(words, DEPTH);
  }

  /** Adds the queue's requests to those of the process; called when the connection is made. */
  void start() {
    group.add(tally);
  }

  WorkRequestCounts counts() {
    return tally.counts();
  }

  /** Times that requests were handed to the device. */
  long doorbells() {
    enter();
    try {
      return chain.doorbells();
    } finally {
      leave();
    }
  }

  /** From here on the owner's requests may wait. */
  void cork() {
    corked = true;
  }

  /** Posts the requests that waited. Returns false if the device refused them. */
  boolean uncork() {
    corked = false;
    if (!waiting) {
      return true;
    }
    waiting = false;
    enter();
    try {
      return handOver() == QueuePair.POSTED;
    } finally {
      leave();
    }
  }

  /** Whether a request has failed, as far as completions have been read. */
  boolean isBroken() {
    return failure != null;
  }

  /** Reads the error that broke the connection; null if no request of this side caused it. */
  String failure() {
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
    enter();
    try {
      final int refusal = refusal();
      if (refusal != QueuePair.POSTED || length == 0) {
        return refusal; // in the device's terms, no length is the longest
      }
      chain
          .next(SendLayout.WRITE)
          .local(local.address() + offset, length, local.localKey())
          .remote(remote.address() + offset, remote.rkey());
      chain.link(WorkRequestTally.WRITE, inline(length), false);
      return handOverUnlessCorked();
    } finally {
      leave();
    }
  }

  /** Posts a READ of the session's memory, or of other memory that the peer has registered. */
  int read(
      RemoteMemory source,
      int remoteOffset,
      VerbsMemory target,
      int offset,
      int length,
      long workRequestId) {
    enter();
    try {
      final int refusal = refusal(workRequestId);
      if (refusal != QueuePair.POSTED) {
        return refusal;
      }
      chain
          .next(SendLayout.READ)
          .local(target.address() + offset, length, target.localKey())
          .remote(source.address() + remoteOffset, source.rkey());
      return post(WorkRequestTally.READ, workRequestId, length);
    } finally {
      leave();
    }
  }

  int compareAndSwap(int remoteOffset, long expected, long desired, long workRequestId) {
    return atomic(SendLayout.COMPARE_AND_SWAP, remoteOffset, expected, desired, workRequestId);
  }

  int fetchAndAdd(int remoteOffset, long delta, long workRequestId) {
    return atomic(SendLayout.FETCH_AND_ADD, remoteOffset, delta, 0, workRequestId);
  }

  private int atomic(int opcode, int offset, long operand, long other, long workRequestId) {
    enter();
    try {
      final int refusal = refusal(workRequestId);
      if (refusal != QueuePair.POSTED) {
        return refusal;
      }
      chain
          .next(opcode)
          .local(
              words.address() + completions.formerOffset(chain.posted()),
              Long.BYTES,
              words.localKey())
          .word(remote.address() + offset, remote.rkey(), operand, other);
      return post(WorkRequestTally.ATOMIC, workRequestId, AskedCompletions.FORMER);
    } finally {
      leave();
    }
  }

  /**
   * Wakes the peer, now or when it has receives again. Never waits.
   *
   * @return false if the ring waits, and the caller has to {@link #sendWaitingRing} later.
   */
  boolean ring() {
    ringWanted = true;
    if (busy.compareAndSet(false, true)) {
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
    if (busy.compareAndSet(false, true)) {
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
        if (chain.posted() != done) {
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
      return failure != null || chain.posted() == done;
    } finally {
      leave();
    }
  }

  /** Ends the use of the device's objects: pending requests complete as flushed. Idempotent. */
  void release() {
    enter();
    try {
      open = false;
      released = true;
      chain.clear();
      flush();
    } finally {
      leave();
    }
    group.close(tally);
  }

  @Override
  public int poll(Handler handler, int limit) {
    final long end;
    enter();
    try {
      reap();
      end = completions.completed();
    } finally {
      leave();
    }
    return completions.handOut(handler, limit, end);
  }

  @SuppressWarnings(
      "ThreadPriorityCheck") // the other thread needs only a moment, unless it is preempted
  private void enter() {
    for (int spins = 0; !busy.compareAndSet(false, true); spins++) {
      if (spins < SPINS) {
        Thread.onSpinWait();
      } else {
        Thread.yield(); // its thread has lost the processor
      }
    }
  }

  /**
   * Releases the guard, after it has sent rings that other threads asked for meanwhile: those
   * threads do not come back for them.
   */
  private void leave() {
    do {
      try {
        sendOwed();
      } finally {
        busy.set(false);
      }
    } while (ringWanted && busy.compareAndSet(false, true));
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

  private int inline(int length) {
    return length <= maxInline ? SendLayout.INLINE : 0;
  }

  private int refusal(long workRequestId) {
    final int refusal = refusal();
    return refusal == QueuePair.POSTED
            && workRequestId != QueuePair.UNSIGNALED
            && completions.isFull()
        ? QueuePair.SEND_QUEUE_FULL
        : refusal;
  }

  private int refusal() {
    if (open && hasRoom(DEPTH - RESERVED)) {
      return QueuePair.POSTED;
    }
    return open ? QueuePair.SEND_QUEUE_FULL : QueuePair.CLOSED;
  }

  private boolean hasRoom(int depth) {
    if (chain.posted() - done >= depth) {
      reap();
    }
    return chain.posted() - done < depth;
  }

  private int post(int kind, long workRequestId, long value) {
    if (workRequestId == QueuePair.UNSIGNALED) {
      chain.link(kind, 0, false);
      return handOverUnlessCorked();
    }
    completions.prepare(chain.posted(), workRequestId, value);
    chain.link(kind, 0, true);
    final int result = handOverUnlessCorked();
    if (result == QueuePair.POSTED) {
      completions.add();
    }
    return result;
  }

  private int handOverUnlessCorked() {
    if (corked && !chain.isFull()) {
      waiting = true;
      return QueuePair.POSTED;
    }
    return handOver();
  }

  /** Posts the linked requests to the device in one call. */
  private int handOver() {
    if (chain.isEmpty()) {
      return open ? QueuePair.POSTED : QueuePair.CLOSED;
    }
    if (!open) {
      chain.clear();
      return QueuePair.CLOSED;
    }
    final long result = chain.handOver();
    if (result != 0) {
      fail("a request was refused: " + Errors.errnoText(QueuePairs.errno(result)));
      return QueuePair.CLOSED;
    }
    return QueuePair.POSTED;
  }

  private void fail(String reason) {
    open = false;
    if (failure == null) {
      failure = reason;
    }
  }

  /** Takes completions from the device. */
  private void reap() {
    if (released) {
      return;
    }
    int count;
    do {
      count = CompletionQueues.poll(completionQueue, BATCH, takenAddress);
      for (int i = 0; i < count; i++) {
        final int at = i * CompletionLayout.SIZE;
        onCompletion(
            taken.getLong(at + CompletionLayout.ID), taken.getInt(at + CompletionLayout.STATUS));
      }
    } while (count == BATCH);
    if (count < 0) {
      fail("completions are lost: " + Errors.errnoText(count));
    }
  }

  private void onCompletion(long number, int status) {
    done = number + 1;
    if (status != CompletionLayout.SUCCESS && status != CompletionLayout.FLUSHED) {
      fail("a request failed: " + Errors.completionText(status));
    }
    completions.completeThrough(number, status == CompletionLayout.SUCCESS);
  }

  private void flush() {
    completions.flush();
    done = chain.posted();
  }
}
