package dev.ringfetch.index.layout;

import com.google.protobuf.ByteString;

/**
 * A reader that finds the values of single keys in index memory, without locks, while owners write.
 * Each answer is linearizable. Used by one thread at a time.
 */
public interface KeyReader {
  /** Reads the value of a key into {@code found}. */
  ReadResult get(ByteString key, Found found);

  /** The same, of a key that is part of an array. */
  ReadResult get(byte[] key, int offset, int length, Found found);
}
