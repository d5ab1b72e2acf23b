package dev.ringfetch.benchmarks.darpc;

import com.ibm.darpc.DaRPCMessage;
import com.ibm.darpc.DaRPCProtocol;
import java.nio.ByteBuffer;

/** 32 bytes, of which the first 8 number the call; request and answer alike. */
final class DarpcMessage implements DaRPCMessage {
  /** Number of a request after which the server rests. */
  static final long END = -1;

  private static final int WORDS = 4;

  /** The factory by which DaRPC creates messages. */
  static class Protocol implements DaRPCProtocol<DarpcMessage, DarpcMessage> {
    @Override
    public DarpcMessage createRequest() {
      return new DarpcMessage();
    }

    @Override
    public DarpcMessage createResponse() {
      return new DarpcMessage();
    }
  }

  private final long[] words = new long[WORDS];

  /** Makes it the message of a call. */
  void fill(long number) {
    for (int i = 0; i < WORDS; i++) {
      words[i] = number + i;
    }
  }

  /** Whether it is the message of a call. */
  boolean holds(long number) {
    for (int i = 0; i < WORDS; i++) {
      if (words[i] != number + i) {
        return false;
      }
    }
    return true;
  }

  void copy(DarpcMessage from) {
    System.arraycopy(from.words, 0, words, 0, WORDS);
  }

  @Override
  public int write(ByteBuffer buffer) {
    for (final long word : words) {
      buffer.putLong(word);
    }
    return size();
  }

  @Override
  public void update(ByteBuffer buffer) {
    for (int i = 0; i < WORDS; i++) {
      words[i] = buffer.getLong();
    }
  }

  @Override
  public int size() {
    return WORDS * Long.BYTES;
  }
}
