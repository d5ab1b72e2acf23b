package dev.ringfetch.rdma.verbs;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.ringfetch.fabric.RemoteMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;

/**
 * What the two sides tell each other in the private data of the connection manager. Numbers are in
 * network order; the transport may add zeros.
 *
 * <pre>
 *  connect   0        1         9               25        33       37       41
 *           +--------+---------+---------------+---------+--------+--------+
 *           | version| offer id| token         | address | length |  key   |  of the mirror
 *           +--------+---------+---------------+---------+--------+--------+
 *
 *  accept    0        1         9        13       17
 *           +--------+---------+--------+--------+
 *           | version| address | length |  key   |  of the memory on offer
 *           +--------+---------+--------+--------+
 *
 *  reject   reason in ASCII
 * </pre>
 *
 * @param offer id of the offer that is taken.
 * @param token that belongs to it.
 * @param mirror the connecting side's copy of the memory.
 */
record Introduction(long offer, Token token, RemoteMemory mirror) {
  /** Length in bytes of what the connecting side tells. */
  static final int LENGTH = 41;

  /** Length in bytes of what the accepting side tells. */
  static final int ACCEPT_LENGTH = 17;

  private static final byte VERSION = 1;

  /** Bytes that only their owners compare, and nobody prints. */
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

    /** Compares in a time that does not tell how much of the token is right. */
    boolean matches(Token presented) {
      return MessageDigest.isEqual(bytes, presented.bytes);
    }
  }

  /** Private data of connect, in a direct buffer. */
  ByteBuffer encode() {
    ByteBuffer out = ByteBuffer.allocateDirect(LENGTH);
    out.put(VERSION).putLong(offer).put(token.bytes);
    put(out, mirror);
    return out;
  }

  /**
   * Reads private data of connect.
   *
   * @throws IOException with the reason for a rejection.
   */
  static Introduction decode(ByteBuffer in) throws IOException {
    checkVersion(in, LENGTH);
    long offer = in.getLong();
    byte[] token = new byte[Token.LENGTH];
    in.get(token);
    return new Introduction(offer, new Token(token), memory(in));
  }

  /** Private data of accept, in a direct buffer. */
  static ByteBuffer encodeAccept(RemoteMemory memory) {
    ByteBuffer out = ByteBuffer.allocateDirect(ACCEPT_LENGTH);
    put(out.put(VERSION), memory);
    return out;
  }

  /** Reads private data of accept. */
  static RemoteMemory decodeAccept(ByteBuffer in) throws IOException {
    checkVersion(in, ACCEPT_LENGTH);
    return memory(in);
  }

  /** Private data of reject, in a direct buffer. */
  static ByteBuffer encodeReason(String reason) {
    byte[] text = reason.getBytes(US_ASCII);
    int length = Math.min(text.length, ConnectionManager.REJECT_DATA);
    return ByteBuffer.allocateDirect(length).put(text, 0, length);
  }

  /** Reads private data of reject: one line of what can be printed, as anybody may have sent it. */
  static String decodeReason(ByteBuffer in) {
    StringBuilder reason = new StringBuilder();
    while (in.hasRemaining()) {
      int character = in.get();
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

  private static void put(ByteBuffer out, RemoteMemory memory) {
    out.putLong(memory.address()).putInt((int) memory.length()).putInt(memory.rkey());
  }

  private static RemoteMemory memory(ByteBuffer in) {
    long address = in.getLong();
    int length = in.getInt();
    return new RemoteMemory(address, length, in.getInt());
  }
}
