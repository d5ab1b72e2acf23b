package dev.ringfetch.rdma.verbs;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.ringfetch.fabric.RemoteMemory;
import dev.ringfetch.rdma.natives.ConnectionManager;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;

/**
 * The private data of the connection manager, by which the two sides introduce themselves. Numbers
 * are in network order; the transport may add zeros.
 *
 * <pre>
 *  connect   0        1         9               25
 *           +--------+---------+---------------+------+
 *           | version| offer id| token         | side |  of the connecting side
 *           +--------+---------+---------------+------+
 *
 *  accept    0        1
 *           +--------+------+
 *           | version| side |  of the offering side
 *           +--------+------+
 *
 *  side      0         8        12       16        24       28          31
 *           +---------+--------+--------+---------+--------+-----------+
 *           | address | length |  key   | address |  key   | datagrams |
 *           +---------+--------+--------+---------+--------+-----------+
 *             session's memory            credit line
 *
 *  reject   reason in ASCII
 * </pre>
 *
 * @param offer id of the offer that is taken.
 * @param token that belongs to it.
 * @param side where the connecting side's memory is.
 */
record Introduction(long offer, Token token, Side side) {
  /** Length in bytes of the connecting side's data. */
  static final int LENGTH = 25 + Side.LENGTH;

  /** Length in bytes of the accepting side's data. */
  static final int ACCEPT_LENGTH = 1 + Side.LENGTH;

  private static final byte VERSION = 1;

  /**
   * Where one side's memory is.
   *
   * @param memory its copy of the session's.
   * @param creditLine the word that counts how many of its rings the peer has received.
   * @param datagrams number of the queue pair by which the connecting side wants to receive
   *     datagrams, or the accepting one will send them; 0 for none.
   */
  record Side(RemoteMemory memory, RemoteMemory creditLine, int datagrams) {
    private static final int LENGTH = 31; // all that the connecting side may send

    private void put(ByteBuffer out) {
      out.putLong(memory.address()).putInt((int) memory.length()).putInt(memory.rkey());
      out.putLong(creditLine.address()).putInt(creditLine.rkey());
      out.put((byte) (datagrams >>> 16)).putShort((short) datagrams); // numbers have 24 bits
    }

    private static Side get(ByteBuffer in) {
      final long address = in.getLong();
      final int length = in.getInt();
      final RemoteMemory memory = new RemoteMemory(address, length, in.getInt());
      final long lineAddress = in.getLong();
      final RemoteMemory line = new RemoteMemory(lineAddress, Long.BYTES, in.getInt());
      final int high = Byte.toUnsignedInt(in.get());
      return new Side(memory, line, high << 16 | Short.toUnsignedInt(in.getShort()));
    }
  }

  /** A token: only the two sides compare it, and it is never printed. */
  static final class Token {
    static final int LENGTH = 16;

    private final byte[] bytes;

    private Token(byte[] bytes) {
      this.bytes = bytes;
    }

    static Token of(byte[] bytes) {
      if (bytes.length != LENGTH) {
        throw new IllegalArgumentException("not 16 bytes: token.length=" + bytes.length);
      }
      return new Token(bytes.clone());
    }

    void put(ByteBuffer out) {
      out.put(bytes);
    }

    static Token get(ByteBuffer in) {
      final byte[] token = new byte[LENGTH];
      in.get(token);
      return new Token(token);
    }

    /**
     * Key that datagrams of the connection present: both sides know it, and each connection has
     * another. Numbers of the upper half are for privileged users.
     */
    int queueKey() {
      return ByteBuffer.wrap(bytes).getInt() & Integer.MAX_VALUE;
    }

    /** Compares in a time that does not tell how much of the token is right. */
    boolean matches(Token presented) {
      return MessageDigest.isEqual(bytes, presented.bytes);
    }
  }

  /** Private data of connect, in a direct buffer. */
  ByteBuffer encode() {
    final ByteBuffer out = ByteBuffer.allocateDirect(LENGTH);
    token.put(out.put(VERSION).putLong(offer));
    side.put(out);
    return out;
  }

  /**
   * Reads private data of connect.
   *
   * @throws IOException with the reason for a rejection.
   */
  static Introduction decode(ByteBuffer in) throws IOException {
    checkVersion(in, LENGTH);
    final long offer = in.getLong();
    return new Introduction(offer, Token.get(in), Side.get(in));
  }

  /** Private data of accept, in a direct buffer. */
  static ByteBuffer encodeAccept(Side side) {
    final ByteBuffer out = ByteBuffer.allocateDirect(ACCEPT_LENGTH);
    side.put(out.put(VERSION));
    return out;
  }

  /** Reads private data of accept. */
  static Side decodeAccept(ByteBuffer in) throws IOException {
    checkVersion(in, ACCEPT_LENGTH);
    return Side.get(in);
  }

  /** Private data of reject, in a direct buffer. */
  static ByteBuffer encodeReason(String reason) {
    final byte[] text = reason.getBytes(US_ASCII);
    final int length = Math.min(text.length, ConnectionManager.REJECT_DATA);
    return ByteBuffer.allocateDirect(length).put(text, 0, length);
  }

  /**
   * Reads private data of reject: one line of printable characters, as the data may come from
   * anybody.
   */
  static String decodeReason(ByteBuffer in) {
    final StringBuilder reason = new StringBuilder();
    while (in.hasRemaining()) {
      final int character = in.get();
      if (character >= ' ' && character < 0x7F) {
        reason.append((char) character);
      }
    }
    return reason.length() == 0 ? "no reason given" : reason.toString();
  }

  private static void checkVersion(ByteBuffer in, int length) throws IOException {
    if (in.remaining() < length || in.get() != VERSION) {
      throw new IOException("the peer speaks another version of this protocol");
    }
  }
}
