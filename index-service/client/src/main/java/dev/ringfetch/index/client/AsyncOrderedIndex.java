package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.DeleteRangeResponse;
import dev.ringfetch.index.v1.KeyRange;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** The operations of an {@link OrderedIndex} without waiting, see {@link AsyncIndex}. */
public final class AsyncOrderedIndex<K, V> extends AsyncIndex<K, V> {
  private final View<K, V> view;
  private final OrderedCodec<K> keys;

  AsyncOrderedIndex(View<K, V> view, OrderedCodec<K> keys, DirectRoute direct) {
    super(view, direct);
    this.view = view;
    this.keys = keys;
  }

  /**
   * Reads a scan of the blocking view to its end.
   *
   * @param consumer gets each entry or key, in order, one at a time, on threads of the channel. If
   *     it throws, the future fails with that.
   * @return the number of those that the consumer got.
   */
  public <T> CompletableFuture<Long> forEach(Scan<T> scan, Consumer<? super T> consumer) {
    try {
      return scan.forEachAsync(consumer);
    } catch (IllegalStateException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Reads a scan of the blocking view into a list. To cancel the future cancels the scan. */
  public <T> CompletableFuture<List<T>> toList(Scan<T> scan) {
    final List<T> all = new ArrayList<>();
    final CompletableFuture<Long> end = forEach(scan, all::add);
    final CompletableFuture<List<T>> list = end.thenApply(count -> all);
    final var unused =
        list.whenComplete(
            (result, failure) -> {
              if (list.isCancelled()) {
                end.cancel(true);
              }
            });
    return list;
  }

  private Scan<IndexEntry<K, V>> scan(Range<K> range) {
    return Scan.of(view, null, range.encode(keys), false, view.requests()::entry);
  }

  /** As {@link OrderedIndex#first(Range)}. */
  public CompletableFuture<Optional<IndexEntry<K, V>>> first(Range<K> range) {
    return toList(scan(range).limit(1)).thenApply(OrderedIndex::only);
  }

  /** As {@link OrderedIndex#last(Range)}. */
  public CompletableFuture<Optional<IndexEntry<K, V>>> last(Range<K> range) {
    return toList(scan(range).reverse().limit(1)).thenApply(OrderedIndex::only);
  }

  /** As {@link OrderedIndex#count(Range)}. */
  public CompletableFuture<Long> count(Range<K> range) {
    return count(range.encode(keys));
  }

  /** As {@link OrderedIndex#deleteRange}. */
  public CompletableFuture<Long> deleteRange(Range<K> range) {
    final KeyRange encoded = range.encode(keys);
    return run(Operation.DELETE_RANGE, null, future -> deleteRange(future, encoded, 0));
  }

  private void deleteRange(CallFuture<Long> future, KeyRange range, long removed) {
    future.run().extend();
    view.send(
        future,
        view.requests().deleteRange(range),
        DeleteRangeResponse::getIncarnation,
        response -> {
          final long sum = removed + response.getRemoved();
          if (response.getMore()) {
            future.run().progress("removed=" + sum + " before");
            deleteRange(future, range, sum);
          } else {
            future.succeed(sum);
          }
        });
  }
}
