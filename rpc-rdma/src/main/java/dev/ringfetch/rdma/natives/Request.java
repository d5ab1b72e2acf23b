package dev.ringfetch.rdma.natives;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A send request with one piece of local memory, laid out once and changed in place. Requests that
 * are linked are posted together.
 */
public final class Request {
  private final ByteBuffer request = direct(SendLayout.SIZE);
  private final ByteBuffer piece = direct(ScatterLayout.SIZE);
  private final long address = Regions.address(request);

  public Request(int opcode) {
    request
        .putInt(SendLayout.OPCODE, opcode)
        .putLong(SendLayout.SCATTER, Regions.address(piece))
        .putInt(SendLayout.SCATTER_COUNT, 1);
  }

  /** Changes the opcode; the fields that the new opcode needs must be set again. */
  public Request opcode(int opcode) {
    request.putInt(SendLayout.OPCODE, opcode);
    return this;
  }

  /** Links the request that is posted behind this one; null for none. */
  public void next(Request next) {
    request.putLong(SendLayout.NEXT, next == null ? 0 : next.address);
  }

  public static ByteBuffer direct(int length) {
    return ByteBuffer.allocateDirect(length).order(ByteOrder.nativeOrder());
  }

  /** For {@link QueuePairs#postSend}. */
  public long address() {
    return address;
  }

  public Request id(long id) {
    request.putLong(SendLayout.ID, id);
    return this;
  }

  public Request flags(int flags) {
    request.putInt(SendLayout.FLAGS, flags);
    return this;
  }

  /** Sets the local memory: the source of what is sent, or the destination of a READ. */
  public Request local(long address, int length, int key) {
    piece
        .putLong(ScatterLayout.ADDRESS, address)
        .putInt(ScatterLayout.LENGTH, length)
        .putInt(ScatterLayout.KEY, key);
    request.putInt(SendLayout.SCATTER_COUNT, 1);
    return this;
  }

  /** Nothing is sent. */
  public Request empty() {
    request.putInt(SendLayout.SCATTER_COUNT, 0);
    return this;
  }

  /** Sets the remote memory of a WRITE or a READ. */
  public Request remote(long address, int key) {
    request.putLong(SendLayout.REMOTE_ADDRESS, address).putInt(SendLayout.REMOTE_KEY, key);
    return this;
  }

  /** Sets the destination of a datagram. */
  public Request datagram(long handle, int number, int key) {
    request
        .putLong(SendLayout.DATAGRAM_HANDLE, handle)
        .putInt(SendLayout.DATAGRAM_QUEUE_PAIR, number)
        .putInt(SendLayout.DATAGRAM_QUEUE_KEY, key);
    return this;
  }

  /** Sets the remote word of an atomic. */
  public Request word(long address, int key, long operand, long swap) {
    request
        .putLong(SendLayout.REMOTE_ADDRESS, address)
        .putInt(SendLayout.ATOMIC_KEY, key)
        .putLong(SendLayout.ATOMIC_OPERAND, operand)
        .putLong(SendLayout.ATOMIC_SWAP, swap);
    return this;
  }
}
