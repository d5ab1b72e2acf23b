package dev.ringfetch.index.layout;

import com.google.protobuf.ByteString;
import java.util.List;

/**
 * The reader of a hash index: finds values in index memory without locks, while the owners of the
 * partitions write. Client and server use the same one.
 *
 * <p>Used by one thread at a time.
 */
@SuppressWarnings("DoNotCallSuggester")
public final class HashReader {
  /** Creates a reader. */
  public HashReader(Reads reads, HashLocation location) {}

  /** Reads the value of a key into {@code found}. */
  public ReadResult get(byte[] key, int offset, int length, Found found) {
    throw new UnsupportedOperationException("body follows");
  }

  /** Reads the value of a key into {@code found}. */
  public ReadResult get(ByteString key, Found found) {
    throw new UnsupportedOperationException("body follows");
  }

  /**
   * Reads the values of several keys, each on its own, in as few batches as one key takes.
   *
   * @param keys the keys
   * @param found receives the value of the key at the same place
   * @param results receives the result of the key at the same place
   */
  public void batchGet(List<ByteString> keys, Found[] found, ReadResult[] results) {
    throw new UnsupportedOperationException("body follows");
  }
}
