package dev.ringfetch.index.direct;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.filter.EntryFilter;
import dev.ringfetch.index.layout.EntrySink;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.SpatialConditions;
import dev.ringfetch.index.layout.SpatialQuery;
import dev.ringfetch.index.layout.SpatialSearch;
import dev.ringfetch.index.v1.Entry;
import dev.ringfetch.index.v1.ScanResponse;
import dev.ringfetch.index.v1.SearchRequest;
import io.grpc.StatusException;
import java.util.HashSet;
import java.util.Set;

/**
 * The state of a search of a spatial index: its condition, and what was given. Any {@link
 * DirectReader} of the same index can continue it in memory. Where memory does not decide, a call
 * finds all entries, and {@link #answered} leaves out those that were given before: so no id comes
 * twice. From then on the search goes by calls, to its end.
 *
 * <p>Used by one thread at a time.
 */
public final class DirectSearch extends DirectReading {
  private final SearchRequest request;
  private final SpatialSearch search; // null if the request is not legal
  private final Set<ByteString> called = new HashSet<>(); // ids of an incomplete page

  /**
   * Begins a search.
   *
   * @param request condition, limit, filter, and whether keys only. Its index is ignored.
   * @throws IllegalArgumentException if the filter is none.
   */
  public DirectSearch(SearchRequest request) {
    super(
        request.getKeysOnly(),
        request.getLimit(),
        request.hasFilter() ? new EntryFilter(request.getFilter()) : null);
    this.request = request;
    search = query(request) == null ? null : new SpatialSearch(query(request));
  }

  /** Begins a search of all entries that a query and a filter, null if there is none, accept. */
  DirectSearch(SpatialQuery query, EntryFilter filter) {
    super(false, 0, filter);
    request = SearchRequest.getDefaultInstance();
    search = new SpatialSearch(query);
  }

  private static SpatialQuery query(SearchRequest request) {
    try {
      return SpatialConditions.of(request);
    } catch (StatusException e) { // the call ends so, too
      return null;
    }
  }

  @Override
  ReadResult read(GrantedIndex granted, EntrySink sink) {
    return granted.search(search, sink);
  }

  @Override
  boolean isLegal() {
    return search != null;
  }

  @Override
  boolean fits(GrantedIndex granted) {
    return granted.isSpatial();
  }

  /**
   * The request of the call that goes on, whose pages are to be passed to {@link #answered}. It has
   * no limit once memory has given entries, as the call gives these again.
   *
   * @param index name of the index.
   */
  public SearchRequest request(String index) {
    final SearchRequest.Builder rest = request.toBuilder().setIndex(index);
    return (incarnation() == 0 || !called.isEmpty() ? rest : rest.clearLimit()).build();
  }

  /**
   * What is left of a page of the call: without the entries that were given, and no more than the
   * limit. The search {@link #isDone} once the limit is reached.
   *
   * @throws io.grpc.StatusRuntimeException ABORTED if the index was dropped since the search's
   *     begin.
   */
  public ScanResponse answered(ScanResponse page) {
    checkIncarnation(page.getIncarnation());
    final ScanResponse.Builder left = page.toBuilder().clearEntries();
    for (final Entry entry : page.getEntriesList()) {
      final ByteString id = entry.getKey();
      if (!isDone()
          && (search == null || !search.hasPassed(id.toByteArray()))
          && !called.contains(id)) {
        left.addEntries(entry);
        count();
        if (page.getIncomplete()) {
          called.add(id);
        }
      }
    }
    return left.build();
  }
}
