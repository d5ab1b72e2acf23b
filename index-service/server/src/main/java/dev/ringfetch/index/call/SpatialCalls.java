package dev.ringfetch.index.call;

import dev.ringfetch.index.filter.EntryFilter;
import dev.ringfetch.index.filter.FieldSum;
import dev.ringfetch.index.host.ServedIndex;
import dev.ringfetch.index.layout.SpatialConditions;
import dev.ringfetch.index.layout.SpatialQuery;
import dev.ringfetch.index.v1.CountRequest;
import dev.ringfetch.index.v1.CountResponse;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.NearestRequest;
import dev.ringfetch.index.v1.NearestResponse;
import dev.ringfetch.index.v1.ScanResponse;
import dev.ringfetch.index.v1.SearchRequest;
import io.grpc.StatusException;
import org.jspecify.annotations.Nullable;

/**
 * The calls of an Index service that search spatial indexes by boxes. Checks requests and begins
 * the calls; an index that is not there has no entries.
 *
 * <p>Safe for use by many threads.
 */
public final class SpatialCalls {
  private final RangeCalls calls;

  /** Creates the calls, which share the threads of those for ranges. */
  public SpatialCalls(RangeCalls calls) {
    this.calls = calls;
  }

  /**
   * Searches.
   *
   * @param index null if there is none
   * @param all whether all pages are answers, not the first alone
   */
  public void search(
      @Nullable ServedIndex index,
      SearchRequest request,
      CallSignals<ScanResponse> signals,
      boolean all)
      throws StatusException {
    final SpatialQuery query = SpatialConditions.of(request);
    final EntryFilter filter = RequestLimits.checkFilter(request.hasFilter(), request.getFilter());
    checkSpatial(index);
    if (index == null) {
      WriteCall.answer(signals.responses(), ScanResponse.getDefaultInstance());
    } else {
      new SearchCall(new BoxReading(index, query, filter), request, signals, calls, all).start();
    }
  }

  /** Finds the nearest entries; the index is null if there is none. */
  public void nearest(
      @Nullable ServedIndex index, NearestRequest request, CallSignals<NearestResponse> signals)
      throws StatusException {
    final SpatialQuery query = SpatialConditions.of(request);
    final EntryFilter filter = RequestLimits.checkFilter(request.hasFilter(), request.getFilter());
    checkSpatial(index);
    if (index == null) {
      WriteCall.answer(signals.responses(), NearestResponse.getDefaultInstance());
    } else {
      final BoxReading reading = new BoxReading(index, query, filter);
      new NearestCall(reading, query, request.getLimit(), signals, calls).start();
    }
  }

  /** Counts the entries that intersect a box; the index is null if there is none. */
  public void count(
      @Nullable ServedIndex index, CountRequest request, CallSignals<CountResponse> signals)
      throws StatusException {
    if (!Ranges.isAll(request.getRange())) {
      throw RequestLimits.invalid("both a range and a box are set");
    }
    final SpatialQuery query = SpatialConditions.intersecting(request.getIntersects());
    final EntryFilter filter = RequestLimits.checkFilter(request.hasFilter(), request.getFilter());
    final FieldSum sum = RequestLimits.checkSummary(request.hasSummary(), request.getSummary());
    checkSpatial(index);
    if (index == null) {
      CountCall.answerNothing(signals, sum);
    } else {
      new CountCall(new BoxReading(index, query, filter), sum, signals, calls).start();
    }
  }

  static void checkSpatial(@Nullable ServedIndex index) throws StatusException {
    RangeCalls.checkKind(index, IndexKind.SPATIAL, "entries of this index have no boxes");
  }
}
