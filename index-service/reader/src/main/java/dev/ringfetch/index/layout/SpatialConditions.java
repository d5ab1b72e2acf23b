package dev.ringfetch.index.layout;

import dev.ringfetch.index.v1.Box;
import dev.ringfetch.index.v1.NearestRequest;
import dev.ringfetch.index.v1.Point;
import dev.ringfetch.index.v1.SearchRequest;
import io.grpc.Status;
import io.grpc.StatusException;

/**
 * The conditions of requests that search spatial indexes: checks them, and makes queries of them.
 * What is not legal ends INVALID_ARGUMENT.
 */
public final class SpatialConditions {
  /** The most entries of an answer with the nearest ones. */
  private static final int MAX_NEAREST = 1000;

  /** The greatest factor of a difference of coordinates: squares of distances are finite. */
  private static final double MAX_WEIGHT = 1e9;

  private SpatialConditions() {}

  /** The query of a search. */
  public static SpatialQuery of(SearchRequest request) throws StatusException {
    return switch (request.getConditionCase()) {
      case INTERSECTS -> intersecting(request.getIntersects());
      case WITHIN -> SpatialQuery.within(box("within", request.getWithin()));
      case CONTAINS -> SpatialQuery.containing(point("contains", request.getContains()));
      case CONDITION_NOT_SET -> throw invalid("no condition is set");
    };
  }

  /** The query of the entries that have a point in common with a box. */
  public static SpatialQuery intersecting(Box box) throws StatusException {
    return SpatialQuery.intersecting(box("intersects", box));
  }

  /** The query of the nearest entries; also checks how many are asked for. */
  public static SpatialQuery of(NearestRequest request) throws StatusException {
    final double[] point = point("point", request.getPoint());
    final int limit = request.getLimit();
    if (limit < 1 || limit > MAX_NEAREST) {
      throw invalid(
          "limit=" + Integer.toUnsignedString(limit) + " is not from 1 to " + MAX_NEAREST);
    }
    final double greatest =
        request.hasGreatestDistance() ? request.getGreatestDistance() : Double.POSITIVE_INFINITY;
    if (!(greatest >= 0)) {
      throw invalid("not a distance: greatest_distance=" + greatest);
    }
    return SpatialQuery.near(
        point[0],
        point[1],
        weight("weight_x", request.getWeightX()),
        weight("weight_y", request.getWeightY()),
        greatest);
  }

  private static double weight(String name, double weight) throws StatusException {
    if (!(weight >= 0 && weight <= MAX_WEIGHT)) {
      throw invalid("not a weight: " + name + "=" + weight + " limit=" + MAX_WEIGHT);
    }
    return weight == 0 ? 1 : weight;
  }

  /** The bounds of a box, once they are checked: min x, min y, max x, max y. */
  public static double[] box(String name, Box box) throws StatusException {
    if (!BoxDescriptor.isLegal(box.getMinX(), box.getMinY(), box.getMaxX(), box.getMaxY())) {
      throw invalid(
          "not a box: "
              + name
              + "=("
              + box.getMinX()
              + ", "
              + box.getMinY()
              + ", "
              + box.getMaxX()
              + ", "
              + box.getMaxY()
              + "); min <= max, and no coordinate beyond "
              + BoxDescriptor.LIMIT);
    }
    return new double[] {box.getMinX(), box.getMinY(), box.getMaxX(), box.getMaxY()};
  }

  private static double[] point(String name, Point point) throws StatusException {
    return box(
        name,
        Box.newBuilder()
            .setMinX(point.getX())
            .setMinY(point.getY())
            .setMaxX(point.getX())
            .setMaxY(point.getY())
            .build());
  }

  private static StatusException invalid(String description) {
    return Status.INVALID_ARGUMENT.withDescription(description).asException();
  }
}
