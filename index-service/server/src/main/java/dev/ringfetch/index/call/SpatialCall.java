package dev.ringfetch.index.call;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.SpatialQuery;
import dev.ringfetch.index.layout.SpatialSearch;
import dev.ringfetch.index.partition.Partition;

/**
 * A call that searches a spatial index by boxes, in steps.
 *
 * @param <T> type of the response.
 */
abstract class SpatialCall<T> extends SteppedCall<T> {
  /** How often the owner is asked before it compares its whole tree with what it has stored. */
  private static final int CHECKED = 50;

  /** A key that the owner reads in between; it need not be there. */
  private static final ByteString ANY = ByteString.copyFromUtf8("any");

  private final SpatialSearch search;

  /** Creates a call, which {@link #start} begins. */
  SpatialCall(ServedIndex index, SpatialQuery query, CallSignals<T> signals, RangeCalls calls) {
    super(index, signals, calls);
    search = new SpatialSearch(query);
  }

  @Override
  final ReadResult read(ServedIndex.LocalReader reader) {
    return reader.search(search, this);
  }

  @Override
  final ByteString doubtfulKey(int count) {
    return count == CHECKED ? ByteString.EMPTY : ANY;
  }

  @Override
  final Partition doubtful() {
    return index.partition(search.partition());
  }
}
