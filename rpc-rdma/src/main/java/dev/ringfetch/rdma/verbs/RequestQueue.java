package dev.ringfetch.rdma.verbs;

import dev.ringfetch.fabric.CompletionQueue;
import dev.ringfetch.fabric.QueuePair;
import dev.ringfetch.rdma.natives.CompletionLayout;
import dev.ringfetch.rdma.natives.CompletionQueues;
import dev.ringfetch.rdma.natives.Errors;
import dev.ringfetch.rdma.natives.QueuePairs;
import dev.ringfetch.rdma.natives.Regions;
import dev.ringfetch.rdma.natives.Request;
import dev.ringfetch.rdma.natives.SendLayout;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The send queue of a queue pair: posts requests, which execute in the order of their numbers, and
 * takes their completions.
 *
 * <p>While it is corked, the owner's requests are linked in a {@link RequestChain}, and handed to
 * the device together: by {@link #uncork}, by a request that the queue posts of its own, or when
 * the chain is full.
 *
 * <p>Posts and polls are short and exclude each other by a guard: a thread that finds another
 * inside spins. {@link #poll} runs handlers in one thread at a time, {@link #cork} and {@link
 * #uncork} belong to the owner; the rest may be called from any thread.
 */
abstract class RequestQueue implements CompletionQueue {
  /** Requests that the device has room for; a power of two. */
  static final int DEPTH = 256;

  /** Length in bytes of the memory for the former words of atomics. */
  static final int FORMERS_LENGTH = DEPTH * Long.BYTES;

  /** Largest number of completions that one poll of the device takes. */
  private static final int BATCH = 16;

  /** Times that a thread spins before it yields. */
  static final int SPINS = 1000;

  /** Memory for the former words of atomics, by the request's number; behind it, the subclass's. */
  final VerbsMemory words;

  final RequestChain chain;
  final long completionQueue;
  private final WorkRequestTally tally;
  private final int maxInline;
  private final int reserved;
  private final AskedCompletions completions;
  private final ByteBuffer taken = Request.direct(BATCH * CompletionLayout.SIZE);
  private final long takenAddress = Regions.address(taken);

  /**
   * The guard: set while a thread posts or polls. It guards the chain, the completions, and each
   * field below, here and in subclasses, whose comment names no other rule.
   */
  private final AtomicBoolean busy = new AtomicBoolean();

  /** Whether requests are taken. Written with the guard, read by any thread. */
  volatile boolean open = true;

  /** The first error; null: none. Written with the guard, read by any thread. */
  volatile String failure;

  private boolean released;
  private long done; // all before it have completed

  /** The owner's, without the guard. */
  private boolean corked;

  /** The owner's, without the guard: it has linked requests since it corked. */
  private boolean waiting;

  /**
   * Creates the queue of a queue pair with room for {@link #DEPTH} requests.
   *
   * @param words of {@link #FORMERS_LENGTH} bytes and those that the subclass uses.
   * @param maxInline longest data in bytes that a post copies.
   * @param reserved part of {@link #DEPTH} that is kept for requests of the queue's own.
   */
  RequestQueue(
      RequestChain chain, long completionQueue, VerbsMemory words, int maxInline, int reserved) {
    this.chain = chain;
    this.tally = chain.tally();
    this.completionQueue = completionQueue;
    this.words = words;
    this.maxInline = maxInline;
    this.reserved = reserved;
    this.completions = new AskedCompletions(words, DEPTH);
  }

  /** Adds the queue's requests to those of the process; called when the connection is made. */
  void start() {
    tally.start();
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

  /** Posts a READ. */
  int read(long address, int rkey, VerbsMemory target, int offset, int length, long workRequestId) {
    enter();
    try {
      final int refusal = refusal(workRequestId);
      if (refusal != QueuePair.POSTED) {
        return refusal;
      }
      if (length == 0) {
        return postEmpty(address, rkey, workRequestId);
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
        return postEmpty(address, rkey, workRequestId);
      }
      chain
          .next(SendLayout.WRITE)
          .local(source.address() + offset, length, source.localKey())
          .remote(address, rkey);
      return post(WorkRequestTally.WRITE, inline(length), workRequestId, length);
    } finally {
      leave();
    }
  }

  /** In the device's terms, no length is the longest: a WRITE of nothing completes in its turn. */
  private int postEmpty(long address, int rkey, long workRequestId) {
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
    tally.close();
  }

  /** Takes the guard, for a moment. */
  final void enter() {
    for (int spins = 0; !tryEnter(); spins++) {
      pause(spins);
    }
  }

  final boolean tryEnter() {
    return busy.compareAndSet(false, true);
  }

  /** Releases the guard. */
  void leave() {
    busy.set(false);
  }

  /** Lets the other thread run, which may have lost the processor where it takes long. */
  @SuppressWarnings("ThreadPriorityCheck")
  static void pause(int spins) {
    if (spins < SPINS) {
      Thread.onSpinWait();
    } else {
      Thread.yield();
    }
  }

  final void fail(String reason) {
    open = false;
    if (failure == null) {
      failure = reason;
    }
  }

  final int inline(int length) {
    return length <= maxInline ? SendLayout.INLINE : 0;
  }

  private int refusal(long workRequestId) {
    if (open
        && hasRoom(DEPTH - reserved)
        && (workRequestId == QueuePair.UNSIGNALED || !completions.isFull())) {
      return QueuePair.POSTED;
    }
    return open ? QueuePair.SEND_QUEUE_FULL : QueuePair.CLOSED;
  }

  /** Whether the device has room for another request, as one of {@code depth}. */
  final boolean hasRoom(int depth) {
    if (chain.posted() - done >= depth) {
      handOver(); // linked requests would never complete
      reap();
    }
    return chain.posted() - done < depth;
  }

  /** Whether all requests have completed. */
  final boolean isDone() {
    return chain.posted() == done;
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
  final int handOver() {
    if (!chain.isEmpty() && !released) {
      final long result = chain.handOver();
      if (result != 0) {
        fail("a request was refused: " + Errors.errnoText(QueuePairs.errno(result)));
        onRefused();
      }
    }
    return open ? QueuePair.POSTED : QueuePair.CLOSED;
  }

  /** Takes completions from the device. */
  final void reap() {
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

  /** The device has refused requests; those before may still execute. */
  void onRefused() {}

  /** The request with this number has completed, and with it all before it. */
  void onCompletion(long number, int status) {
    done = number + 1;
    if (status != CompletionLayout.SUCCESS && status != CompletionLayout.FLUSHED) {
      fail("a request failed: " + Errors.completionText(status));
    }
    completions.completeThrough(number, status == CompletionLayout.SUCCESS);
  }

  /** Completes all requests as flushed. */
  void flush() {
    completions.flush();
    done = chain.posted();
  }
}
