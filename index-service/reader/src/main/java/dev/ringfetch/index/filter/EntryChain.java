package dev.ringfetch.index.filter;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.BlockDescriptor;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.Field;
import dev.ringfetch.index.v1.FollowRequest;
import dev.ringfetch.index.v1.FollowResponse;

/**
 * The chain of entries of a request, as it grows: each entry that is taken says which key comes
 * next. The server reads the entries for calls, a client in memory. Used by one thread at a time.
 */
public final class EntryChain {
  /** Limit of the entries of a chain. */
  private static final int MAX_HOPS = 16;

  private final FollowRequest request;
  private final EntryField next;
  private final long maxBytes;
  private final FollowResponse.Builder response = FollowResponse.newBuilder();
  private ByteString key;
  private int hops;
  private long bytes;

  /**
   * Begins the chain of a request, at its key.
   *
   * @param maxBytes the most bytes of its entries
   * @throws IllegalArgumentException if the number of entries is out of bounds, or the key of the
   *     next entry is no field of bytes
   */
  public EntryChain(FollowRequest request, long maxBytes) {
    if (request.getHops() < 1 || request.getHops() > MAX_HOPS) {
      throw new IllegalArgumentException(
          "hops=" + Integer.toUnsignedString(request.getHops()) + " is not from 1 to " + MAX_HOPS);
    }
    this.request = request;
    this.maxBytes = maxBytes;
    next = new EntryField(request.getNext());
    if (next.encoding() != Field.Encoding.BYTES) {
      throw new IllegalArgumentException("a key cannot be " + next);
    }
    key = request.getKey();
  }

  /** The key of the entry that is to be taken next. */
  public ByteString key() {
    return key;
  }

  /** Number of the entries taken. */
  public int hops() {
    return hops;
  }

  /** Notes the incarnation of the index that is read; false if earlier entries are of another. */
  public boolean isOf(long incarnation) {
    final long former = response.getIncarnation();
    response.setIncarnation(incarnation);
    return former == 0 || former == incarnation;
  }

  /** Takes the entry of the key, null if it has none; returns whether the chain goes on. */
  public boolean take(Entry entry) {
    if (entry == null) {
      response.setMissing(key);
      return false;
    }
    if (request.getLastOnly()) {
      response.clearEntries();
      bytes = 0;
    }
    response.addEntries(entry);
    bytes += entry.getSerializedSize();
    key = behind(entry);
    return ++hops < request.getHops() && !key.isEmpty() && !isTooLong();
  }

  /** The key that follows an entry; empty if there is none. */
  private ByteString behind(Entry entry) {
    final int keyLength = entry.getKey().size();
    final int valueLength = entry.getValue().size();
    final int begin = next.begin(0, keyLength, valueLength);
    if (begin == EntryField.ABSENT) {
      return ByteString.EMPTY;
    }
    final int end = next.end(begin, 0, keyLength, valueLength);
    final ByteString found = entry.getKey().concat(entry.getValue()).substring(begin, end);
    return found.size() > BlockDescriptor.MAX_KEY_LENGTH ? ByteString.EMPTY : found;
  }

  /** Whether its entries are longer than they may be. */
  public boolean isTooLong() {
    return bytes > maxBytes;
  }

  /** The entries, and the key before which the chain has ended. */
  public FollowResponse response() {
    return response.build();
  }
}
