package dev.ringfetch.rdma.natives;

import java.io.IOException;

/**
 * Native operations on queue pairs of reliable connections: creation, attributes, and posting of
 * work requests that the caller has laid out in native memory.
 *
 * <p>Posting may be done by any thread, but no other thread may touch a list of requests until the
 * call that posts it returns. Posting never throws.
 */
public final class QueuePairs {
  private QueuePairs() {}

  /**
   * Creates an id's queue pair, whose work requests complete only where they ask for it.
   *
   * @param capacity address of {@link QueuePairLayout#CAPACITY_SIZE} bytes: what is wanted, then
   *     what is granted. Less inline data than wanted is taken; less of anything else is refused.
   * @return the queue pair.
   */
  public static native long create(
      long id, long domain, long sendQueue, long receiveQueue, long capacity) throws IOException;

  /** Destroys an id's queue pair, if it has one. */
  public static native void destroy(long id);

  /** Number of a queue pair of any type, by which its peer and completions name it. */
  public static native int number(long queuePair);

  /**
   * Changes the access rights of the peer: {@link RegionLayout}'s access flags. The connection
   * lives on.
   */
  public static native void changeAccess(long queuePair, int access) throws IOException;

  /**
   * Changes how long the peer waits after a SEND that found no receive here: a code of the
   * InfiniBand specification, 0 for 655 ms, 1 for 10 us, 12 for 640 us.
   */
  public static native void changeMinRnrTimer(long queuePair, int code) throws IOException;

  /** Moves a queue pair to the error state; what is pending completes as flushed. */
  public static native void fail(long queuePair) throws IOException;

  /**
   * Copies the attributes as they are.
   *
   * @param out address of {@link QueuePairLayout#SIZE} bytes.
   */
  public static native void query(long queuePair, long out) throws IOException;

  /**
   * Posts a linked list of send requests, as {@link SendLayout} has them, in one call.
   *
   * @return 0, or {@link #errno} and {@link #badIndex} in one.
   */
  public static native long postSend(long queuePair, long first);

  /**
   * Posts a linked list of receive requests, as {@link ReceiveLayout} has them, in one call.
   *
   * @return 0, or {@link #errno} and {@link #badIndex} in one.
   */
  public static native long postReceive(long queuePair, long first);

  /** Negative errno of a post; 0 if it was posted. */
  public static int errno(long result) {
    return (int) result;
  }

  /** Index in its list of the first request that a failed post did not post. */
  public static int badIndex(long result) {
    return (int) (result >>> 32);
  }
}
