package dev.ringfetch.rdma.verbs;

import dev.ringfetch.fabric.RemoteMemory;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;

/**
 * The address of memory that one side of a connection has registered for its peer's READs. Numbers
 * are in network order.
 *
 * <pre>
 *   0      1        9     13       17        25       29    33
 *  +------+---------+-----+--------+---------+--------+-----+----------+
 *  | kind | address | key | number | address | length | key | checksum |
 *  +------+---------+-----+--------+---------+--------+-----+----------+
 *            the owner's              the registered memory
 *          copy of the session's
 * </pre>
 *
 * @param owner the owner's copy of the session's memory, without its length: no other connection
 *     has the same.
 * @param number of the memory at its owner, counted from 0.
 * @param memory that is registered.
 */
record RegisteredDescriptor(RemoteMemory owner, int number, RemoteMemory memory) {
  private static final byte KIND = 'R';
  private static final int LENGTH = 33;

  byte[] encode() {
    final ByteBuffer out = ByteBuffer.allocate(LENGTH);
    out.put(KIND).putLong(owner.address()).putInt(owner.rkey()).putInt(number);
    out.putLong(memory.address()).putInt((int) memory.length()).putInt(memory.rkey());
    return SealedDescriptor.seal(out);
  }

  static RegisteredDescriptor decode(byte[] descriptor) throws IOException {
    final ByteBuffer in = SealedDescriptor.open(descriptor, KIND);
    try {
      final long ownerAddress = in.getLong();
      final RemoteMemory owner = new RemoteMemory(ownerAddress, 0, in.getInt());
      final int number = in.getInt();
      final long address = in.getLong();
      final int length = in.getInt();
      final RemoteMemory memory = new RemoteMemory(address, length, in.getInt());
      if (in.hasRemaining() || number < 0 || length <= 0 || length % 64 != 0) {
        throw SealedDescriptor.malformed(descriptor, null);
      }
      return new RegisteredDescriptor(owner, number, memory);
    } catch (BufferUnderflowException e) {
      throw SealedDescriptor.malformed(descriptor, e);
    }
  }

  /** Whether its owner has this copy of the session's memory. */
  boolean isOf(RemoteMemory copy) {
    return owner.address() == copy.address() && owner.rkey() == copy.rkey();
  }
}
