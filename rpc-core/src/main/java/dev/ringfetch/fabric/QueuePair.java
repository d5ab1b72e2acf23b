package dev.ringfetch.fabric;

import java.io.IOException;

/**
 * One side of a connection between two processes, through which one reaches the other's memory.
 *
 * <p>Work requests execute in posting order. A completion at the sender proves nothing about
 * visibility at the receiver. Any error ends the queue pair: what is pending completes with {@link
 * #FLUSHED}, and the {@link Listener} is told exactly once.
 *
 * <p>Threading: {@link #write}, {@link #read}, {@link #compareAndSwap}, {@link #fetchAndAdd},
 * {@link #sendDatagram}, {@link #pollDatagrams}, {@link #cork}, {@link #uncork} and {@link
 * #completions} belong to one owner at a time; {@link #ringDoorbell} and {@link #close} may be
 * called from any thread.
 */
public interface QueuePair extends AutoCloseable {
  /** The work request was posted. */
  int POSTED = 0;

  /** The send queue is full: poll completions, then post again. */
  int SEND_QUEUE_FULL = -1;

  /** The queue pair has ended: nothing can be posted any more. */
  int CLOSED = -2;

  /** Completion status: done. */
  int SUCCESS = 0;

  /** Completion status: not executed, because the queue pair ended first. */
  int FLUSHED = -3;

  /** Work request id that asks for no completion. */
  long UNSIGNALED = -1;

  /** What this connection's rings may rely on. */
  FabricCapabilities capabilities();

  /**
   * The session's memory as this side reaches it: at the owner its registered memory, at the peer
   * the staging view, in which a range is filled and then published by {@link #write}.
   */
  MemoryRegion memory();

  /** The same memory as the remote side names it, for {@link #read} and the atomics. */
  RemoteMemory remote();

  /**
   * Registers memory of this side's own, which only this connection's peer can reach. Any thread.
   *
   * @param length in bytes, a multiple of 64.
   * @throws IOException when it is not to be had, or the connection has ended.
   */
  RegisteredMemory register(int length) throws IOException;

  /**
   * Reaches memory that the peer has registered. Any thread; may block for as long as the system
   * takes to map it.
   *
   * @param descriptor as the peer sent it: anything.
   * @param maxLength longest memory that is taken, in bytes.
   * @return the memory, where {@link FabricCapabilities#loadStore()} holds. It is the peer's: its
   *     bytes may change at any time.
   * @throws IOException when the descriptor leads nowhere, with the reason as its message.
   */
  MemoryRegion attach(byte[] descriptor, int maxLength) throws IOException;

  /**
   * Zeroed memory of this side's own for {@link #read} to land in, which nobody else reaches. It
   * lives as long as the connection. Any thread.
   *
   * @param length in bytes, a multiple of 64.
   * @throws IOException when it is not to be had, or the connection has ended.
   */
  MemoryRegion scratch(int length) throws IOException;

  /** One line that names the peer, for people. */
  String peer();

  /**
   * Starts telling the listener of rings and of the end, in the thread that owns the doorbell. What
   * happened before is told by its next poll, not within this call. Called exactly once.
   */
  void bind(Listener listener);

  /**
   * Publishes a range of the staging view. For every frame in the range the commit word becomes
   * visible to the remote CPU after all lower bytes of the range. Without effect where the view is
   * the peer's memory itself: there each commit word was its own release store.
   *
   * @return {@link #POSTED}, {@link #SEND_QUEUE_FULL} or {@link #CLOSED}.
   */
  int write(int offset, int length);

  /**
   * Reads remote memory into local memory: the word at {@code firstOffset} of the range is loaded
   * first, with acquire, then the rest is copied.
   *
   * @param remoteOffset of the range within the remote memory, a multiple of 8.
   * @param local memory that receives the range, {@link #scratch} or {@link #memory}; it belongs to
   *     the queue pair until completion.
   * @param localOffset of the range within it, a multiple of 8.
   * @param length of the range in bytes, a multiple of 8.
   * @param firstOffset of the word within the range that is loaded first, a multiple of 8.
   * @param workRequestId comes back in the completion, or {@link #UNSIGNALED}.
   * @return {@link #POSTED}, {@link #SEND_QUEUE_FULL} or {@link #CLOSED}.
   */
  int read(
      RemoteMemory remote,
      int remoteOffset,
      MemoryRegion local,
      int localOffset,
      int length,
      int firstOffset,
      long workRequestId);

  /**
   * Compares a remote word and swaps it if equal. The completion carries the word as it was.
   *
   * @return {@link #POSTED}, {@link #SEND_QUEUE_FULL} or {@link #CLOSED}.
   */
  int compareAndSwap(
      RemoteMemory remote, int remoteOffset, long expected, long desired, long workRequestId);

  /**
   * Adds to a remote word. The completion carries the word as it was.
   *
   * @return {@link #POSTED}, {@link #SEND_QUEUE_FULL} or {@link #CLOSED}.
   */
  int fetchAndAdd(RemoteMemory remote, int remoteOffset, long delta, long workRequestId);

  /**
   * Sends a range of {@link #memory()} in one datagram, from the side that has offered to the side
   * that has connected. It comes once, several times, late, after later ones, or not at all, and
   * with what the memory holds when it goes out: now, or when other work requests have executed.
   * Whatever becomes of it, the connection goes on. There is no completion.
   *
   * @param offset of the range in bytes, of any alignment.
   * @param length of the range in bytes, at most {@link FabricCapabilities#maxDatagram()}.
   * @return {@link #POSTED}, {@link #SEND_QUEUE_FULL} or {@link #CLOSED}; the latter also at the
   *     side that receives them, and when no more can be sent though the connection goes on.
   * @throws IllegalArgumentException if the range is not in the memory, or too long; on a
   *     connection without datagrams always.
   */
  default int sendDatagram(int offset, int length) {
    throw new IllegalArgumentException("no datagrams: length=" + length);
  }

  /**
   * Hands out datagrams that have come from this connection's peer. Whoever can read what travels
   * can forge one, so their content has to prove what it is. What finds too many waiting is lost.
   *
   * @param limit how many at the most.
   * @return how many were handed out, or {@link #CLOSED} when no more will come, whatever becomes
   *     of the connection.
   */
  default int pollDatagrams(DatagramHandler handler, int limit) {
    return 0;
  }

  /**
   * Requests that are posted from here on may wait for {@link #uncork}, so that the device is told
   * of several at once: so may what they transfer be transferred then. The same owner uncorks;
   * once, however often it has corked. None of them waits longer than a ring that comes after it,
   * or than {@link #close}. One that the device refuses then ends the connection, of which the
   * listener is told.
   */
  default void cork() {}

  /** Nothing waits any longer. Without effect where nothing was {@linkplain #cork corked}. */
  default void uncork() {}

  /** Completions of this queue pair's signaled work requests. */
  CompletionQueue completions();

  /**
   * Wakes the poller that owns the peer's doorbell. Never blocks; rings that are not heard merge.
   */
  void ringDoorbell();

  /**
   * Ends the connection. The caller's threads are out of {@link #memory()} and stay out. The
   * listener is not told. Idempotent.
   */
  @Override
  void close();

  /** Receives datagrams. */
  @FunctionalInterface
  interface DatagramHandler {
    /**
     * A datagram has come. The memory is this side's alone until this returns.
     *
     * @param region that holds it.
     * @param offset of its first byte, a multiple of 8.
     * @param length in bytes.
     */
    void onDatagram(MemoryRegion region, int offset, int length);
  }

  /** Told what happens to a queue pair, in the thread that owns its doorbell. */
  interface Listener {
    /** The peer rang. */
    void onDoorbell();

    /**
     * The connection has ended and nothing more will be visible than what is. Called at most once,
     * and nothing after it.
     *
     * @param reason in one line, for people.
     */
    void onDisconnected(String reason);
  }
}
