package dev.ringfetch.rdma.verbs;

import dev.ringfetch.fabric.RemoteMemory;
import dev.ringfetch.rdma.natives.CompletionLayout;
import dev.ringfetch.rdma.natives.Errors;
import dev.ringfetch.rdma.natives.SendLayout;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * The send queue of a connection to a domain. Requests and polls belong to the owner of the
 * connection; any thread may {@link #look}.
 */
final class DomainQueue extends RequestQueue {
  /** Largest number of linked requests. */
  private static final int CHAIN = 32;

  /** Where the word of a look goes. */
  private static final int LOOK_OFFSET = FORMERS_LENGTH;

  /** Longer than any device tries to reach a peer. */
  private static final long LOOK_LIMIT_NS = TimeUnit.SECONDS.toNanos(30);

  /** Length in bytes of the memory for words that come back. */
  static final int WORDS_LENGTH = LOOK_OFFSET + 64;

  private static final long NONE = -1;

  private long lookNumber = NONE;
  private boolean lookSucceeded;

  /**
   * Creates the queue of a queue pair with room for {@link #DEPTH} requests.
   *
   * @param words of {@link #WORDS_LENGTH} bytes.
   */
  DomainQueue(DomainDevice.Opened queuePair, long completionQueue, VerbsMemory words) {
    super(
        new RequestChain(queuePair.handle(), CHAIN, new WorkRequestTally(WorkRequestTally.DOMAINS)),
        completionQueue,
        words,
        queuePair.maxInline(),
        0);
  }

  /** Whether the connection has ended, as far as completions have been read. */
  boolean isBroken() {
    return !open;
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
      final boolean room = open && hasRoom(DEPTH);
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
      leave();
    }
  }

  /** Nothing else ends the connection, so that no completions would come. */
  @Override
  void onRefused() {
    flush();
  }

  @Override
  void flush() {
    super.flush();
    lookSucceeded &= lookNumber == NONE;
    lookNumber = NONE;
  }

  @Override
  void onCompletion(long number, int status) {
    super.onCompletion(number, status);
    if (status != CompletionLayout.SUCCESS) { // a flushed request is the first sign of the end
      fail("a request failed: " + Errors.completionText(status));
    }
    if (lookNumber != NONE && lookNumber <= number) {
      lookSucceeded = lookNumber < number || status == CompletionLayout.SUCCESS;
      lookNumber = NONE;
    }
  }
}
