package dev.ringfetch.rdma.verbs;

import dev.ringfetch.fabric.RemoteDomain;
import dev.ringfetch.fabric.RemoteMemory;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;

/**
 * The address of a segment. Numbers are in network order.
 *
 * <pre>
 *   0      1           9        13        21       29     33      41        49     53
 *  +------+-----------+--------+---------+--------+------+-------+---------+------+----------+
 *  | kind | domain id | number | address | length | key  | nonce | address | key  | checksum |
 *  +------+-----------+--------+---------+--------+------+-------+---------+------+----------+
 *                                the memory                        the mark
 * </pre>
 *
 * <p>The mark is a word in memory that stays registered as long as the domain. It has the nonce as
 * long as the segment is there: a request for memory that is not would break the connection.
 *
 * @param domain id of the segment's domain.
 * @param number of the segment in it.
 * @param memory of the segment.
 * @param nonce that no other segment has; not 0.
 * @param mark the word that is the nonce.
 */
record SegmentDescriptor(
    long domain, int number, RemoteMemory memory, long nonce, RemoteMemory mark) {
  private static final byte KIND = 'S';
  private static final int LENGTH = 57;

  byte[] encode() {
    final ByteBuffer out = ByteBuffer.allocate(LENGTH);
    out.put(KIND).putLong(domain).putInt(number);
    out.putLong(memory.address()).putLong(memory.length()).putInt(memory.rkey());
    out.putLong(nonce).putLong(mark.address()).putInt(mark.rkey());
    return SealedDescriptor.seal(out);
  }

  static SegmentDescriptor decode(byte[] descriptor) throws IOException {
    final ByteBuffer in = SealedDescriptor.open(descriptor, KIND);
    try {
      final long domain = in.getLong();
      final int number = in.getInt();
      final long address = in.getLong();
      final long length = in.getLong();
      final RemoteMemory memory = new RemoteMemory(address, length, in.getInt());
      final long nonce = in.getLong();
      final long markAddress = in.getLong();
      final RemoteMemory mark = new RemoteMemory(markAddress, Long.BYTES, in.getInt());
      if (in.hasRemaining()
          || number < 0
          || number >= RemoteDomain.SEGMENT_LIMIT
          || length <= 0
          || length % 64 != 0
          || nonce == 0) {
        throw SealedDescriptor.malformed(descriptor, null);
      }
      return new SegmentDescriptor(domain, number, memory, nonce, mark);
    } catch (BufferUnderflowException e) {
      throw SealedDescriptor.malformed(descriptor, e);
    }
  }
}
