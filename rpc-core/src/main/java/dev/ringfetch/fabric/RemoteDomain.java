package dev.ringfetch.fabric;

import java.io.IOException;

/**
 * A domain of a peer, as a process that was admitted reaches it.
 *
 * <p>Order of work requests, beyond which nothing is granted:
 *
 * <pre>
 *   later \ earlier | WRITE, atomic                           | READ
 *   ----------------+-----------------------------------------+---------------------------------------
 *   WRITE, atomic   | placed in posting order                 | none: wait for the READ's completion
 *   READ            | {@link FabricCapabilities#readAfterWrite}    | {@link FabricCapabilities#readAfterRead}
 * </pre>
 *
 * <p>Completions come in posting order. That of a WRITE proves nothing about visibility at the
 * peer. An error ends the connection: {@link #isRevoked()} is true from then on.
 *
 * <p>Threading: {@link #read}, {@link #write}, {@link #compareAndSwap}, {@link #fetchAndAdd},
 * {@link #cork}, {@link #uncork} and {@link #completions} belong to one owner at a time; the rest
 * may be called from any thread.
 */
public interface RemoteDomain extends AutoCloseable {
  /** Number of the segment that is the page of the peer's gate: always attached, only read. */
  int GATE = -1;

  /** Limit of the number of a domain's segments. */
  int SEGMENT_LIMIT = 1 << 16;

  /** The guarantees that work requests may rely on. */
  FabricCapabilities capabilities();

  /** The rights that the peer has granted. */
  Rights rights();

  /**
   * Reaches a segment. May block for a round trip, or for as long as the system takes to map it.
   * Attaching it twice has no effect.
   *
   * @param segmentDescriptor as the peer sent it, not verified.
   * @return the segment's number in its domain, less than {@link #SEGMENT_LIMIT}.
   * @throws IOException when the descriptor leads nowhere, with the reason as its message.
   */
  int attach(byte[] segmentDescriptor) throws IOException;

  /**
   * Lets go of a segment, attached or not. Its memory is unmapped when nothing refers to it any
   * more.
   */
  void detach(int segment);

  /**
   * Length of a segment in bytes.
   *
   * @param segment an attached segment, or {@link #GATE}.
   * @throws IllegalArgumentException for a segment that is not attached.
   */
  default long length(int segment) {
    return view(segment).length();
  }

  /**
   * Returns a segment's memory itself, where {@link FabricCapabilities#loadStore()} holds. It is
   * the peer's: its bytes may change at any time. Stores throw {@link
   * java.nio.ReadOnlyBufferException} unless the rights include {@link Rights#WRITE}. Loads work as
   * long as the memory exists, also after a revocation: the reader looks at {@link #isRevoked()}.
   *
   * @throws IllegalArgumentException for a segment that is not attached.
   * @throws IllegalStateException where memory can be reached by work requests only.
   */
  MemoryRegion view(int segment);

  /**
   * Allocates zeroed local memory for work requests, which no other process reaches.
   *
   * @param length in bytes, a multiple of 64.
   * @throws IOException when it is not to be had, or the connection has ended.
   */
  MemoryRegion scratch(int length) throws IOException;

  /**
   * Reads remote memory into local memory. Aligned words of 64 bits arrive whole where {@code
   * offset} and {@code localOffset} are multiples of 8; beyond that {@link
   * FabricCapabilities#readAtomicity} says what is granted.
   *
   * @param segment an attached segment, or {@link #GATE}.
   * @param offset of the range in the segment, in bytes.
   * @param local {@link #scratch}, which belongs to the connection until completion.
   * @param localOffset of the range in it, in bytes.
   * @param length of the range in bytes.
   * @param workRequestId comes back in the completion, or {@link QueuePair#UNSIGNALED}.
   * @return {@link QueuePair#POSTED}, {@link QueuePair#SEND_QUEUE_FULL} or {@link
   *     QueuePair#CLOSED}.
   * @throws IllegalArgumentException for a range or a segment that is not there.
   */
  int read(
      int segment,
      long offset,
      MemoryRegion local,
      int localOffset,
      int length,
      long workRequestId);

  /**
   * Writes local memory to remote memory. The bytes become visible as {@link
   * FabricCapabilities#writeOrder} says; {@code local} belongs to the connection until completion.
   *
   * @return as {@link #read}.
   * @throws IllegalArgumentException also if the rights do not include {@link Rights#WRITE}.
   */
  int write(
      int segment,
      long offset,
      MemoryRegion local,
      int localOffset,
      int length,
      long workRequestId);

  /**
   * Compares a remote word and swaps it if equal. The completion carries the word as it was.
   *
   * @param offset of the word, a multiple of 8.
   * @return as {@link #read}.
   * @throws IllegalArgumentException also if the rights do not include {@link Rights#ATOMIC}.
   */
  int compareAndSwap(int segment, long offset, long expected, long desired, long workRequestId);

  /**
   * Adds to a remote word. The completion carries the word as it was.
   *
   * @param offset of the word, a multiple of 8.
   * @return as {@link #read}.
   * @throws IllegalArgumentException also if the rights do not include {@link Rights#ATOMIC}.
   */
  int fetchAndAdd(int segment, long offset, long delta, long workRequestId);

  /** Begins a batch: work requests that are posted from here on may wait for {@link #uncork}. */
  void cork();

  /** Ends a batch: posts all waiting work requests under one doorbell. */
  void uncork();

  /** Completions of signaled work requests. */
  CompletionQueue completions();

  /**
   * Returns whether the peer has revoked the admission or closed the domain, memory was taken away,
   * or this side has closed. What was loaded before a call that returns false was granted.
   *
   * @throws InternalError that of memory from which this thread has loaded and which it has not
   *     verified; it says nothing about the admission.
   */
  boolean isRevoked();

  /** Ends the connection. Idempotent. */
  @Override
  void close();
}
