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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The send queue of a connection to a domain. Requests execute in the order of their numbers. While
 * it is corked, they are linked in a {@link RequestChain}, and handed to the device together: by
 * {@link #uncork}, by a {@link #look}, or when the chain is full.
 *
 * <p>Requests and polls belong to the owner of the connection, {@link #look}, {@link #shut} and
 * {@link #release} to any thread: they exclude each other by a guard that is held for a moment, and
 * that only these make the owner wait for.
 */
final class DomainQueue implements CompletionQueue {
  /** Requests that the device has room for; a power of two. */
  static final int DEPTH = 256;

  /** Largest number of linked requests. */
  private static final int CHAIN = 32;

  /** Largest number of completions that one poll of the device takes. */
  private static final int BATCH = 16;

  private static final int SPINS = 1000;

  /** Where the word of a look goes. */
  private static final int LOOK_OFFSET = DEPTH * Long.BYTES;

  /** Longer than any device tries to reach a peer. */
  private static final long LOOK_LIMIT_NS = TimeUnit.SECONDS.toNanos(30);

  /** Length in bytes of the memory for words that come back. */
  static final int WORDS_LENGTH = LOOK_OFFSET + 64;

  private static final long NONE = -1;

  private final WorkRequestTally tally = new WorkRequestTally();
  private final long completionQueue;
  private final int maxInline;

  /** Memory for the former words of atomics, by the request's number, and for a look. */
  private final VerbsMemory words;

  private final RequestChain chain;
  private final AskedCompletions completions;
  private final ByteBuffer taken = Request.direct(BATCH * CompletionLayout.SIZE);
  private final long takenAddress = Regions.address(taken);

  /** Set while a thread posts or polls; guards what follows. */
  private final AtomicBoolean busy = new AtomicBoolean();

  private boolean open = true;
  private boolean released;
  private volatile boolean broken; // read without the guard
  private String failure;
  private long done; // all before it have completed
  private long lookNumber = NONE;
  private boolean lookSucceeded;

  // The owner's, without the guard.
  private boolean corked;
  private boolean waiting; // it has linked something since it corked

  /**
   * Creates the queue of a queue pair with room for {@link #DEPTH} requests.
   *
   * @param words of {@link #WORDS_LENGTH} bytes.
   */
  DomainQueue(DomainDevice.Opened queuePair, long completionQueue, VerbsMemory words) {
    this.completionQueue = completionQueue;
    this.maxInline = queuePair.maxInline();
    this.words = words;
    this.chain = new RequestChain(queuePair.handle(), CHAIN, tally);
    this.completions = new AskedCompletions(words, DEPTH);
    WorkRequestTally.DOMAINS.add(tally);
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

  /** Whether the connection has ended, as far as completions have been read. */
  boolean isBroken() {
    return broken;
  }

  void cork() {
    corked = true;
  }

  void uncork() {
    corked = false;
    if (waiting) {
      waiting = false;
      enter();
      try {
        handOver();
      } finally {
        leave();
      }
    }
  }

  /** Posts a READ. */
  int read(long address, int rkey, VerbsMemory target, int offset, int length, long workRequestId) {
    enter();
    try {
      final int refusal = refusal(workRequestId);
      if (refusal != QueuePair.POSTED) {
        return refusal;
      }
      if (length == 0) {
        return empty(address, rkey, workRequestId);
      }
      chain
          .next(SendLayout.READ)
          .local(target.address() + offset, length, target.localKey())
          .remote(address, rkey);
      return post(WorkRequestTally.READ, 0, workRequestId, length);
    } finally {
      leave();
    }
  }

  /** Posts a WRITE. */
  int write(
      long address, int rkey, VerbsMemory source, int offset, int length, long workRequestId) {
    enter();
    try {
      final int refusal = refusal(workRequestId);
      if (refusal != QueuePair.POSTED) {
        return refusal;
      }
      if (length == 0) {
        return empty(address, rkey, workRequestId);
      }
      chain
          .next(SendLayout.WRITE)
          .local(source.address() + offset, length, source.localKey())
          .remote(address, rkey);
      final int flags = length <= maxInline ? SendLayout.INLINE : 0;
      return post(WorkRequestTally.WRITE, flags, workRequestId, length);
    } finally {
      leave();
    }
  }

  /** In the device's terms, no length is the longest: a WRITE of nothing completes in its turn. */
  private int empty(long address, int rkey, long workRequestId) {
    chain.next(SendLayout.WRITE).empty().remote(address, rkey);
    return post(WorkRequestTally.PROBE, 0, workRequestId, 0);
  }

  /** Posts an atomic of the opcode. */
  int atomic(int opcode, long address, int rkey, long operand, long other, long workRequestId) {
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
          .word(address, rkey, operand, other);
      return post(WorkRequestTally.ATOMIC, 0, workRequestId, AskedCompletions.FORMER);
    } finally {
      leave();
    }
  }

  /**
   * Reads a remote word, for a thread that need not be the owner, and waits for it. One thread at a
   * time.
   *
   * @throws IOException when the connection has ended, or ends by that.
   */
  long look(RemoteMemory word) throws IOException {
    final long startNs = System.nanoTime();
    while (!postLook(word)) {
      if (System.nanoTime() - startNs >= LOOK_LIMIT_NS) {
        throw new IOException("no room for a request in time: word=" + word);
      }
      pause(SPINS); // without the guard; a round trip empties the queue
    }
    while (System.nanoTime() - startNs < LOOK_LIMIT_NS) {
      enter();
      try {
        reap();
        if (lookNumber == NONE) {
          if (!lookSucceeded) {
            throw ended();
          }
          return words.getLongAcquire(LOOK_OFFSET);
        }
      } finally {
        leave();
      }
      pause(SPINS);
    }
    throw new IOException("no answer in time: word=" + word);
  }

  /** Posts the READ of a look. False if the queue is full. */
  private boolean postLook(RemoteMemory word) throws IOException {
    enter();
    try {
      final boolean room = open && hasRoom();
      if (!open) {
        throw ended();
      }
      if (!room) {
        return false;
      }
      chain
          .next(SendLayout.READ)
          .local(words.address() + LOOK_OFFSET, Long.BYTES, words.localKey())
          .remote(word.address(), word.rkey());
      lookNumber = chain.posted();
      lookSucceeded = false;
      chain.link(WorkRequestTally.READ, 0, true);
      handOver();
      return true;
    } finally {
      leave();
    }
  }

  private IOException ended() {
    return new IOException(
        failure == null ? "the connection has ended" : "the connection has ended: " + failure);
  }

  /** Takes no more requests; those that were posted complete, as flushed where they fail. */
  void shut() {
    enter();
    try {
      handOver();
    } finally {
      open = false;
      broken = true;
      leave();
    }
  }

  /** Ends the use of the device's objects: pending requests complete as flushed. Idempotent. */
  void release() {
    enter();
    try {
      open = false;
      broken = true;
      released = true;
      chain.clear();
      flush();
    } finally {
      leave();
    }
    WorkRequestTally.DOMAINS.close(tally);
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

  private void enter() {
    for (int spins = 0; !busy.compareAndSet(false, true); spins++) {
      pause(spins);
    }
  }

  @SuppressWarnings("ThreadPriorityCheck") // the other thread may have lost the processor
  private static void pause(int spins) {
    if (spins < SPINS) {
      Thread.onSpinWait();
    } else {
      Thread.yield();
    }
  }

  private void leave() {
    busy.set(false);
  }

  private int refusal(long workRequestId) {
    if (!open) {
      return QueuePair.CLOSED;
    }
    if (!hasRoom() || (workRequestId != QueuePair.UNSIGNALED && completions.isFull())) {
      return open ? QueuePair.SEND_QUEUE_FULL : QueuePair.CLOSED;
    }
    return QueuePair.POSTED;
  }

  private boolean hasRoom() {
    if (chain.posted() - done == DEPTH) {
      handOver(); // what waits would never complete
      reap();
    }
    return chain.posted() - done < DEPTH;
  }

  private int post(int kind, int flags, long workRequestId, long value) {
    final boolean signaled = workRequestId != QueuePair.UNSIGNALED;
    if (signaled) {
      completions.prepare(chain.posted(), workRequestId, value);
    }
    chain.link(kind, flags, signaled);
    int result = QueuePair.POSTED;
    if (corked && !chain.isFull()) {
      waiting = true;
    } else {
      result = handOver();
    }
    if (signaled && result == QueuePair.POSTED) {
      completions.add();
    }
    return result;
  }

  /**
   * Posts the linked requests to the device in one call; after the end of the connection, too, so
   * that they complete as flushed.
   */
  private int handOver() {
    if (!chain.isEmpty() && !released) {
      final long result = chain.handOver();
      if (result != 0) {
        fail("a request was refused: " + Errors.errnoText(QueuePairs.errno(result)));
        flush();
      }
    }
    return open ? QueuePair.POSTED : QueuePair.CLOSED;
  }

  private void flush() {
    completions.flush();
    done = chain.posted();
    lookSucceeded &= lookNumber == NONE;
    lookNumber = NONE;
  }

  private void fail(String reason) {
    open = false;
    broken = true;
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
    if (status != CompletionLayout.SUCCESS) {
      fail("a request failed: " + Errors.completionText(status));
    }
    completions.completeThrough(number, status == CompletionLayout.SUCCESS);
    if (lookNumber != NONE && lookNumber <= number) {
      lookSucceeded = lookNumber < number || status == CompletionLayout.SUCCESS;
      lookNumber = NONE;
    }
  }
}
