package dev.ringfetch.rdma.verbs;

import dev.ringfetch.fabric.GateDescriptor;
import dev.ringfetch.fabric.RemoteMemory;
import dev.ringfetch.fabric.Rights;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The private data of the connection manager by which a peer of a domain introduces itself, and is
 * answered. Numbers are in network order; the transport may add zeros. A rejection has its reason,
 * as for a session ({@link Introduction}).
 *
 * <pre>
 *  connect   0      1           9               25
 *           +------+-----------+---------------+
 *           | kind | domain id | token         |
 *           +------+-----------+---------------+
 *
 *  accept    0      1        2         10     14
 *           +------+--------+---------+------+
 *           | kind | rights | address | key  |
 *           +------+--------+---------+------+
 *                            the gate's page
 * </pre>
 *
 * @param domain id of the domain.
 * @param token of the admission.
 */
record DomainIntroduction(long domain, Introduction.Token token) {
  private static final byte KIND = 'D';
  private static final int LENGTH = 25;
  private static final int ANSWER_LENGTH = 14;

  /**
   * The answer to a peer that is let in.
   *
   * @param rights of the peer.
   * @param gate page of the domain's gate.
   */
  record Answer(Rights rights, RemoteMemory gate) {
    /** Private data of accept, in a direct buffer. */
    ByteBuffer encode() {
      return ByteBuffer.allocateDirect(ANSWER_LENGTH)
          .put(KIND)
          .put((byte) rights.bits())
          .putLong(gate.address())
          .putInt(gate.rkey());
    }

    /** Reads private data of accept. */
    static Answer decode(ByteBuffer in) throws IOException {
      checkKind(in, ANSWER_LENGTH);
      final int bits = in.get();
      final long address = in.getLong();
      final RemoteMemory gate = new RemoteMemory(address, GateDescriptor.LENGTH, in.getInt());
      for (final Rights rights : Rights.values()) {
        if (rights.bits() == bits) {
          return new Answer(rights, gate);
        }
      }
      throw new IOException("the peer grants unknown rights: bits=" + bits);
    }
  }

  /** Private data of connect, in a direct buffer. */
  ByteBuffer encode() {
    final ByteBuffer out = ByteBuffer.allocateDirect(LENGTH).put(KIND).putLong(domain);
    token.put(out);
    return out;
  }

  /**
   * Reads private data of connect.
   *
   * @throws IOException with the reason for a rejection.
   */
  static DomainIntroduction decode(ByteBuffer in) throws IOException {
    checkKind(in, LENGTH);
    final long domain = in.getLong();
    return new DomainIntroduction(domain, Introduction.Token.get(in));
  }

  private static void checkKind(ByteBuffer in, int length) throws IOException {
    if (in.remaining() < length || in.get() != KIND) {
      throw new IOException("not of a domain, or of another version of this protocol");
    }
  }
}
