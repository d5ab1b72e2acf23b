package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.DeleteRangeResponse;
import dev.ringfetch.index.v1.KeyRange;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * A view of an index with ranges of keys, in the order of its key codec. The first write creates
 * the index, if there is none; without one, ranges are empty.
 *
 * <p>Operations on ranges end in FAILED_PRECONDITION where the index has no order.
 */
public final class OrderedIndex<K, V> extends KeyedIndex<K, V> {
  private final OrderedCodec<K> keys;

  OrderedIndex(View<K, V> view, OrderedCodec<K> keys, Access access, DirectAccess memory) {
    super(view, access, memory);
    this.keys = keys;
  }

  /**
   * The same view with this route of reads of keys and scans; default {@link Access#RPC}. Scans of
   * {@link #async}, counts and snapshots go by calls in either case.
   */
  public OrderedIndex<K, V> access(Access access) {
    return new OrderedIndex<>(view(), keys, access, memory());
  }

  /** The same view with another deadline of each call. */
  public OrderedIndex<K, V> deadline(Duration deadline) {
    return new OrderedIndex<>(view().withDeadline(deadline), keys, access(), memory());
  }

  /** The same view, with operations that do not wait. */
  public AsyncOrderedIndex<K, V> async() {
    return new AsyncOrderedIndex<>(view(), keys, unwaiting());
  }

  /** The entries of a range. */
  public Scan<IndexEntry<K, V>> scan(Range<K> range) {
    return Scan.of(view(), direct(), range.encode(keys), false, view().requests()::entry);
  }

  /** All entries. */
  public Scan<IndexEntry<K, V>> scan() {
    return scan(Range.all());
  }

  /** The entries whose keys begin with this one: for strings and bytes. */
  public Scan<IndexEntry<K, V>> prefix(K prefix) {
    return scan(Range.prefix(prefix));
  }

  /** The keys of a range, without values. */
  public Scan<K> keys(Range<K> range) {
    return Scan.of(view(), direct(), range.encode(keys), true, view().requests()::key);
  }

  /** The entry with the smallest key. */
  public Optional<IndexEntry<K, V>> first() {
    return first(Range.all());
  }

  /** The entry with the smallest key of a range. */
  public Optional<IndexEntry<K, V>> first(Range<K> range) {
    return only(scan(range).limit(1).toList());
  }

  /** The entry with the greatest key. */
  public Optional<IndexEntry<K, V>> last() {
    return last(Range.all());
  }

  /** The entry with the greatest key of a range. */
  public Optional<IndexEntry<K, V>> last(Range<K> range) {
    return only(scan(range).reverse().limit(1).toList());
  }

  static <T> Optional<T> only(List<T> list) {
    return list.isEmpty() ? Optional.empty() : Optional.of(list.get(0));
  }

  /** Counts the entries of a range, each as it is when it is read. */
  public long count(Range<K> range) {
    return count(range.encode(keys));
  }

  /** As {@link #watch(WatchOptions)}, with the changes of the keys of a range. */
  public Watch<K, V> watch(Range<K> range, WatchOptions options) {
    return Watch.open(view(), view().requests().watch(range.encode(keys), options), options);
  }

  /** As {@link #watch(WatchOptions, WatchListener)}, with the changes of the keys of a range. */
  public WatchSubscription<K, V> watch(
      Range<K> range, WatchOptions options, WatchListener<K, V> listener) {
    return WatchSubscription.start(
        view(), view().requests().watch(range.encode(keys), options), options, listener);
  }

  /**
   * Removes the entries of a range, in steps, until a step finds nothing left. Entries that are
   * written meanwhile may stay.
   *
   * @return the number of entries removed.
   * @throws IndexException where a step fails; it names how many were removed by those before.
   */
  public long deleteRange(Range<K> range) {
    final KeyRange encoded = range.encode(keys);
    return run(
        Operation.DELETE_RANGE,
        null,
        run -> {
          long removed = 0;
          while (true) {
            run.extend();
            final DeleteRangeResponse response =
                view()
                    .call(
                        run,
                        view().requests().deleteRange(encoded),
                        DeleteRangeResponse::getIncarnation);
            removed += response.getRemoved();
            if (!response.getMore()) {
              return removed;
            }
            run.progress("removed=" + removed + " before");
          }
        });
  }
}
