package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.CountResponse;
import dev.ringfetch.index.v1.NearestRequest;
import dev.ringfetch.index.v1.NearestResponse;
import dev.ringfetch.index.v1.SearchRequest;
import java.time.Duration;
import java.util.List;

/**
 * A view of an index whose entries have boxes: finds them by id as other indexes do, and by their
 * boxes. The first write creates the index, if there is none; without one, searches are empty.
 *
 * <p>Searches end in FAILED_PRECONDITION where the index is of another kind.
 *
 * <pre>{@code
 * SpatialIndex<String, String> places = client.spatial("places", Codec.string(), Codec.string());
 * places.put("Bern", Box.of(7.44, 46.95), "Switzerland");
 * for (var found : places.intersecting(new Box(5, 45, 10, 48))) { ... }
 * var near = places.nearestOnEarth(new Point(7.6, 47.5), 3, 100_000);
 * }</pre>
 */
public final class SpatialIndex<K, V> extends KeyedIndex<K, Located<V>> {
  /**
   * Metres of a degree of latitude, and of longitude at the equator: a mean radius of the earth.
   */
  static final double METRES_PER_DEGREE = Math.toRadians(6_371_008.8);

  SpatialIndex(View<K, Located<V>> view, Access access, DirectAccess memory) {
    super(view, access, memory);
  }

  /**
   * The same view with this route of searches, of {@code nearest}, and of reads of ids; default
   * {@link Access#RPC}. Counts, and searches of {@link #async}, go by calls in either case.
   */
  public SpatialIndex<K, V> access(Access access) {
    return new SpatialIndex<>(view(), access, memory());
  }

  /** The same view with another deadline of each call. */
  public SpatialIndex<K, V> deadline(Duration deadline) {
    return new SpatialIndex<>(view().withDeadline(deadline), access(), memory());
  }

  /** The same view, with operations that do not wait. */
  public AsyncSpatialIndex<K, V> async() {
    return new AsyncSpatialIndex<>(view(), unwaiting());
  }

  /**
   * Writes an entry, whether or not there was one: where it was, it has moved.
   *
   * @return the version that it has now.
   */
  public long put(K id, Box box, V value) {
    return put(id, new Located<>(box, value));
  }

  /** As {@link #put(Object, Box, Object)}, with a time to live. */
  public long put(K id, Box box, V value, Duration ttl) {
    return put(id, new Located<>(box, value), ttl);
  }

  /** The entries whose boxes have a point in common with a box. */
  public BoxSearch<K, V> intersecting(Box box) {
    return search(view().requests().search().setIntersects(box.message()));
  }

  /** The entries whose boxes are within a box. */
  public BoxSearch<K, V> within(Box box) {
    return search(view().requests().search().setWithin(box.message()));
  }

  /** The entries whose boxes contain a point. */
  public BoxSearch<K, V> containing(Point point) {
    return search(view().requests().search().setContains(point.message()));
  }

  private BoxSearch<K, V> search(SearchRequest.Builder request) {
    return new BoxSearch<>(view(), direct(), request.build());
  }

  /** Counts the entries whose boxes have a point in common with a box. */
  public long count(Box box) {
    return run(
        Operation.COUNT,
        null,
        run -> {
          final CountResponse response = view().calls().call(run, view().requests().countIn(box));
          return response.getEntries();
        });
  }

  /**
   * The entries nearest to a point, in the order of their distances.
   *
   * @param limit the most entries, from 1 to 1,000.
   */
  public List<Neighbor<K, V>> nearest(Point point, int limit) {
    return nearest(inPlane(point, limit));
  }

  /** As {@link #nearest(Point, int)}, up to a greatest distance. */
  public List<Neighbor<K, V>> nearest(Point point, int limit, double greatestDistance) {
    return nearest(inPlane(point, limit).setGreatestDistance(greatestDistance));
  }

  /** As {@link #nearest(Point, int, double)}, of the entries that a filter accepts. */
  public List<Neighbor<K, V>> nearest(
      Point point, int limit, double greatestDistance, Filter where) {
    return nearest(
        inPlane(point, limit).setGreatestDistance(greatestDistance).setFilter(where.message()));
  }

  /**
   * The entries nearest to a point, in metres, where x is degrees of longitude and y of latitude.
   *
   * <p>Distances are those of a plane that touches the earth at the point's latitude: right to 1 %
   * up to some 100 km, except near the poles, and not across the meridian of 180 degrees.
   *
   * @param limit the most entries, from 1 to 1,000.
   */
  public List<Neighbor<K, V>> nearestOnEarth(Point point, int limit, double greatestMetres) {
    return nearest(onEarth(point, limit).setGreatestDistance(greatestMetres));
  }

  /** As {@link #nearestOnEarth(Point, int, double)}, of the entries that a filter accepts. */
  public List<Neighbor<K, V>> nearestOnEarth(
      Point point, int limit, double greatestMetres, Filter where) {
    return nearest(
        onEarth(point, limit).setGreatestDistance(greatestMetres).setFilter(where.message()));
  }

  /**
   * As {@link #watch(WatchOptions)}, with the changes of entries whose boxes have a point in common
   * with a box before the change, after it, or both. Each says whether its entry has entered the
   * box, moved in it or left it. A search after the begin of the watch finds what is in the box
   * already.
   */
  public Watch<K, Located<V>> watch(Box box, WatchOptions options) {
    return Watch.open(view(), view().requests().watch(box, options), options);
  }

  /** As {@link #watch(Box, WatchOptions)}; changes go to a listener. Does not wait. */
  public WatchSubscription<K, Located<V>> watch(
      Box box, WatchOptions options, WatchListener<K, Located<V>> listener) {
    return WatchSubscription.start(
        view(), view().requests().watch(box, options), options, listener);
  }

  private List<Neighbor<K, V>> nearest(NearestRequest.Builder request) {
    return run(
        Operation.NEAREST,
        null,
        run -> {
          final NearestResponse found =
              directly(
                  run,
                  ReadKind.nearest(request.getLimit()),
                  reader -> reader.nearest(request.build()));
          return neighbors(
              view(),
              run.subject(),
              found != null ? found : view().calls().call(run, view().requests().nearest(request)));
        });
  }

  static NearestRequest.Builder inPlane(Point point, int limit) {
    return NearestRequest.newBuilder().setPoint(point.message()).setLimit(limit);
  }

  static NearestRequest.Builder onEarth(Point point, int limit) {
    if (Math.abs(point.x()) > 180 || Math.abs(point.y()) >= 90) {
      throw new IllegalArgumentException(
          "not between the poles: longitude=" + point.x() + " latitude=" + point.y());
    }
    return inPlane(point, limit)
        .setWeightX(METRES_PER_DEGREE * Math.cos(Math.toRadians(point.y())))
        .setWeightY(METRES_PER_DEGREE);
  }

  static <K, V> List<Neighbor<K, V>> neighbors(
      View<K, Located<V>> view, Subject subject, NearestResponse response) {
    return response.getNeighborsList().stream()
        .map(
            neighbor ->
                new Neighbor<>(
                    view.requests().entry(subject, neighbor.getEntry()), neighbor.getDistance()))
        .toList();
  }
}
