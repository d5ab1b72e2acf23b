package dev.ringfetch.fabric;

import java.io.IOException;

/**
 * One side of a connection between two processes, for access to the peer's memory.
 *
 * <p>Work requests execute in posting order. A completion at the sender proves nothing about
 * visibility at the receiver. Any error ends the queue pair: pending requests complete with {@link
 * #FLUSHED}, and the {@link Listener} is notified exactly once.
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

  /** The guarantees that this connection's rings may rely on. */
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
   * @param descriptor as the peer sent it, not verified.
   * @param maxLength longest memory that is taken, in bytes.
   * @return the memory, where {@link FabricCapabilities#loadStore()} holds. It is the peer's: its
   *     bytes may change at any time.
   * @throws IOException when the descriptor leads nowhere, with the reason as its message.
   */
  MemoryRegion attach(byte[] descriptor, int maxLength) throws IOException;

  /**
   * Names memory that the peer has registered, for {@link #read}, where {@link
   * FabricCapabilities#loadStore()} does not hold. Any thread; makes no system call. A descriptor
   * is good once, and a later one only after those before it.
   *
   * @param descriptor as the peer sent it, not verified beyond its form: a read of memory that is
   *     not there ends the connection.
   * @param maxLength longest memory that is taken, in bytes.
   * @return the memory, a multiple of 64 bytes long. It is the peer's: its bytes may change at any
   *     time.
   * @throws IOException when the descriptor is none of this connection's, with the reason as its
   *     message, or the connection has ended.
   */
  default RemoteMemory attachRemote(byte[] descriptor, int maxLength) throws IOException {
    throw new IOException("registered memory is loaded from, not read: " + capabilities());
  }

  /**
   * Allocates zeroed local memory as the destination of {@link #read}; no other process reaches it.
   * It lives as long as the connection. Any thread.
   *
   * @param length in bytes, a multiple of 64.
   * @throws IOException when it is not to be had, or the connection has ended.
   */
  MemoryRegion scratch(int length) throws IOException;

  /** The peer's name for messages, in one line. */
  String peer();

  /**
   * Starts to notify the listener of rings and of the end, on the thread that owns the doorbell.
   * Earlier events are delivered by that thread's next poll, not within this call. Called exactly
   * once.
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
   * @param remote {@link #remote}, or memory that {@link #attachRemote} has returned.
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
   * The connection continues in any case. There is no completion.
   *
   * @param offset of the range in bytes, of any alignment.
   * @param length of the range in bytes, at most {@link FabricCapabilities#maxDatagram()}.
   * @return {@link #POSTED}, {@link #SEND_QUEUE_FULL} or {@link #CLOSED}; the latter also at the
   *     side that receives them, and when no more can be sent although the connection continues.
   * @throws IllegalArgumentException if the range is not in the memory, or too long; on a
   *     connection without datagrams always.
   */
  default int sendDatagram(int offset, int length) {
    throw new IllegalArgumentException("no datagrams: length=" + length);
  }

  /**
   * Hands out datagrams that have come from this connection's peer. A third party that can read the
   * network traffic can forge them, so their content must be authenticated. Datagrams that find a
   * full queue are lost.
   *
   * @param limit how many at the most.
   * @return how many were handed out, or {@link #CLOSED} when no more will come on this connection.
   */
  default int pollDatagrams(DatagramHandler handler, int limit) {
    return 0;
  }

  /**
   * Begins a batch: requests that are posted from here on may wait for {@link #uncork}, so that the
   * device is notified of several at once. Their data may be transferred only then. The same owner
   * uncorks, once, however often it has corked. A ring that comes later, and {@link #close}, end
   * the wait as well. A request that the device refuses then ends the connection, and the listener
   * is notified.
   */
  default void cork() {}

  /**
   * Ends a batch: posts all waiting requests. Without effect where nothing was {@linkplain #cork
   * corked}.
   */
  default void uncork() {}

  /** Completions of this queue pair's signaled work requests. */
  CompletionQueue completions();

  /**
   * Wakes the poller that owns the peer's doorbell. Never blocks; rings that are not consumed yet
   * merge.
   */
  void ringDoorbell();

  /**
   * Ends the connection. The caller's threads must not use {@link #memory()} from this call on. The
   * listener is not notified. Idempotent.
   */
  @Override
  void close();

  /** Receives datagrams. */
  @FunctionalInterface
  interface DatagramHandler {
    /**
     * Called for each datagram. Only this side uses the memory until this method returns.
     *
     * @param region memory that contains it.
     * @param offset of its first byte, a multiple of 8.
     * @param length in bytes.
     */
    void onDatagram(MemoryRegion region, int offset, int length);
  }

  /** Listener for the events of a queue pair, called on the thread that owns its doorbell. */
  interface Listener {
    /** Called when the peer has rung the doorbell. */
    void onDoorbell();

    /**
     * Called when the connection has ended and no further data will become visible: at most once,
     * and as the last call.
     *
     * @param reason in one line, for messages.
     */
    void onDisconnected(String reason);
  }
}
