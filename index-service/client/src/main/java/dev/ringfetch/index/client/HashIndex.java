package dev.ringfetch.index.client;

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

  /** The same view, with operations that do not wait. */
  public AsyncIndex<K, V> async() {
    return new AsyncIndex<>(view(), unwaiting());
  }
}
