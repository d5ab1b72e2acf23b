package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.CountRequest;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.SearchRequest;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Spliterator;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * A search of a {@link SpatialIndex}, which begins with {@link #iterator}, {@link #stream} or
 * {@link #toList}, each time anew. Entries come in no order.
 *
 * <p>An entry that belongs to the answer during the whole search comes once, even if it moves
 * meanwhile; an entry that is written or removed meanwhile may come or not; no id comes twice. Each
 * comes with a box, a value and a version that it had at some moment of the search.
 *
 * <p>One call brings the first page; if there are more, the server sends them while the client
 * reads. In a view with another {@link Access} than calls they come out of the index's memory if
 * the server grants that. Where memory does not decide, calls go on. Close an iterator or a stream
 * that is not read to its end. If the server is lost, a search begins again at the next one until
 * the first page of the stream has come; after that it fails.
 *
 * <p>Immutable. Safe for use by many threads.
 */
public final class BoxSearch<K, V> implements Iterable<IndexEntry<K, Located<V>>> {
  private final View<K, Located<V>> view;
  private final DirectRoute direct; // null: all goes by calls
  private final SearchRequest request;

  BoxSearch(View<K, Located<V>> view, DirectRoute direct, SearchRequest request) {
    this.view = view;
    this.direct = direct;
    this.request = request;
  }

  /** Limits the search to this number of entries, at least 1. */
  public BoxSearch<K, V> limit(long most) {
    if (most < 1) {
      throw new IllegalArgumentException("limit=" + most + " is not positive");
    }
    return new BoxSearch<>(view, direct, request.toBuilder().setLimit(most).build());
  }

  /**
   * Limits the search to the entries that a filter accepts; the fields of values are those of
   * {@link Field#located}.
   */
  public BoxSearch<K, V> where(Filter filter) {
    return new BoxSearch<>(view, direct, request.toBuilder().setFilter(filter.message()).build());
  }

  /**
   * Counts the entries of a search for what intersects a box, by one call, each as it is when it is
   * read; the limit of a search does not count.
   */
  public long count() {
    return counted().entries();
  }

  /**
   * Sums up a number of these entries by one call. A sum that leaves 64 bits wraps around, as in
   * {@link LongSummaryStatistics}.
   */
  public LongSummaryStatistics summarizeLongs(Field<Long> field) {
    return counted().longs(field);
  }

  /** As {@link #summarizeLongs}, of a floating-point number. */
  public DoubleSummaryStatistics summarizeDoubles(Field<Double> field) {
    return counted().doubles(field);
  }

  private EntryCount counted() {
    if (!request.hasIntersects()) {
      throw new IllegalStateException(
          "not a search for what intersects a box: condition=" + request.getConditionCase());
    }
    final CountRequest.Builder count =
        CountRequest.newBuilder()
            .setIndex(request.getIndex())
            .setIntersects(request.getIntersects());
    return new EntryCount(
        view, (request.hasFilter() ? count.setFilter(request.getFilter()) : count).build());
  }

  /** Begins the search; nothing is fetched yet. */
  @Override
  public ScanIterator<IndexEntry<K, Located<V>>> iterator() {
    final Subject subject = view.subject(Operation.SEARCH, null);
    return new ScanIterator<>(
        new SearchPages(view.calls(), direct, subject, view.timeoutNs(), request),
        entry -> view.requests().entry(subject, entry));
  }

  /** Begins the search as a stream, whose close ends it. It is sequential. */
  public Stream<IndexEntry<K, Located<V>>> stream() {
    return iterator().stream(Spliterator.NONNULL);
  }

  /** Reads all. */
  public List<IndexEntry<K, Located<V>>> toList() {
    return iterator().toList();
  }

  /**
   * Reads without waiting.
   *
   * @param consumer receives each entry, one at a time, on threads of the channel.
   * @return the number of those that the consumer got.
   */
  CallFuture<Long> forEachAsync(Consumer<? super IndexEntry<K, Located<V>>> consumer) {
    final Subject subject = view.subject(Operation.SEARCH, null);
    final CallFuture<Long> future =
        new CallFuture<>(view.calls().begin(subject, view.timeoutNs()), view.known()::failed);
    new ScanDelivery<IndexEntry<K, Located<V>>>(
            consumer, (Entry entry) -> view.requests().entry(subject, entry), future)
        .stream(view.calls(), Call.reading(IndexGrpc.getSearchMethod(), request), view.timeoutNs());
    return future;
  }
}
