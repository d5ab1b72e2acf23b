package dev.ringfetch.index.call;

import dev.ringfetch.index.host.ServedIndex;
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
  /** The most entries of an answer with the nearest ones. */
  public static final int MAX_NEAREST = 1000;

  /** The greatest factor of a difference of coordinates: squares of distances are finite. */
  private static final double MAX_WEIGHT = 1e9;

  private final RangeCalls calls;

  /** Creates the calls, which share the threads of those for ranges. */
  public SpatialCalls(RangeCalls calls) {
    this.calls = calls;
  }

  /** Searches; the index is null if there is none. */
  public void search(
      @Nullable ServedIndex index, SearchRequest request, CallSignals<ScanResponse> signals)
      throws StatusException {
    final SpatialQuery query =
        switch (request.getConditionCase()) {
          case INTERSECTS ->
              SpatialQuery.intersecting(
                  RequestLimits.checkBox("intersects", request.getIntersects()));
          case WITHIN -> SpatialQuery.within(RequestLimits.checkBox("within", request.getWithin()));
          case CONTAINS ->
              SpatialQuery.containing(RequestLimits.checkPoint("contains", request.getContains()));
          case CONDITION_NOT_SET -> throw RequestLimits.invalid("no condition is set");
        };
    checkSpatial(index);
    if (index == null) {
      signals.responses().onCompleted();
    } else {
      new SearchCall(index, query, request, signals, calls).start();
    }
  }

  /** Finds the nearest entries; the index is null if there is none. */
  public void nearest(
      @Nullable ServedIndex index, NearestRequest request, CallSignals<NearestResponse> signals)
      throws StatusException {
    final double[] point = RequestLimits.checkPoint("point", request.getPoint());
    final int limit = request.getLimit();
    if (limit < 1 || limit > MAX_NEAREST) {
      throw RequestLimits.invalid(
          "limit=" + Integer.toUnsignedString(limit) + " is not from 1 to " + MAX_NEAREST);
    }
    final double greatest =
        request.hasGreatestDistance() ? request.getGreatestDistance() : Double.POSITIVE_INFINITY;
    if (!(greatest >= 0)) {
      throw RequestLimits.invalid("not a distance: greatest_distance=" + greatest);
    }
    final SpatialQuery query =
        SpatialQuery.near(
            point[0],
            point[1],
            weight("weight_x", request.getWeightX()),
            weight("weight_y", request.getWeightY()),
            greatest);
    checkSpatial(index);
    if (index == null) {
      WriteCall.answer(signals.responses(), NearestResponse.getDefaultInstance());
    } else {
      new NearestCall(index, query, limit, signals, calls).start();
    }
  }

  private static double weight(String name, double weight) throws StatusException {
    if (!(weight >= 0 && weight <= MAX_WEIGHT)) {
      throw RequestLimits.invalid("not a weight: " + name + "=" + weight + " limit=" + MAX_WEIGHT);
    }
    return weight == 0 ? 1 : weight;
  }

  /** Counts the entries that intersect a box; the index is null if there is none. */
  public void count(
      @Nullable ServedIndex index, CountRequest request, CallSignals<CountResponse> signals)
      throws StatusException {
    if (!Ranges.isAll(request.getRange())) {
      throw RequestLimits.invalid("both a range and a box are set");
    }
    final SpatialQuery query =
        SpatialQuery.intersecting(RequestLimits.checkBox("intersects", request.getIntersects()));
    checkSpatial(index);
    if (index == null) {
      WriteCall.answer(signals.responses(), CountResponse.getDefaultInstance());
    } else {
      new CountCall(new BoxReading(index, query), signals, calls).start();
    }
  }

  private static void checkSpatial(@Nullable ServedIndex index) throws StatusException {
    RangeCalls.checkKind(index, IndexKind.SPATIAL, "entries of this index have no boxes");
  }
}
