package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.KeyRange;
import java.time.Duration;

/**
 * A view of an index whose keys have no order. The first write creates the index, if there is none.
 *
 * <p>An ordered index can be viewed so, too: the operations on keys are the same.
 */
public final class HashIndex<K, V> extends KeyedIndex<K, V> {
  HashIndex(View<K, V> view, Access access, DirectAccess memory) {
    super(view, access, memory);
  }

  /** The same view with this route of reads; default {@link Access#RPC}. */
  public HashIndex<K, V> access(Access access) {
    return new HashIndex<>(view(), access, memory());
  }

  /** The same view with another deadline of each call. */
  public HashIndex<K, V> deadline(Duration deadline) {
    return new HashIndex<>(view().withDeadline(deadline), access(), memory());
  }

  /**
   * All entries, in no order. An entry that is there during the whole scan comes at least once; it
   * may come again if the index grows meanwhile. Pages go by calls. The scan ends ABORTED where the
   * server has started again or another node leads the index, and FAILED_PRECONDITION in reverse or
   * as a snapshot, for which an index needs an order.
   */
  public Scan<IndexEntry<K, V>> scan() {
    return Scan.of(view(), null, KeyRange.getDefaultInstance(), false, view().requests()::entry)
        .unordered();
  }

  /** All keys, as {@link #scan} has the entries. */
  public Scan<K> keys() {
    return Scan.of(view(), null, KeyRange.getDefaultInstance(), true, view().requests()::key)
        .unordered();
  }

  /** The same view, with operations that do not wait. */
  public AsyncIndex<K, V> async() {
    return new AsyncIndex<>(view(), unwaiting());
  }
}
