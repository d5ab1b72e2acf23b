package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.NearestRequest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** The operations of a {@link SpatialIndex} without waiting, see {@link AsyncIndex}. */
public final class AsyncSpatialIndex<K, V> extends AsyncIndex<K, Located<V>> {
  private final View<K, Located<V>> view;

  AsyncSpatialIndex(View<K, Located<V>> view, DirectRoute direct) {
    super(view, direct);
    this.view = view;
  }

  /** As {@link SpatialIndex#put(Object, Box, Object)}. */
  public CompletableFuture<Long> put(K id, Box box, V value) {
    return put(id, new Located<>(box, value));
  }

  /** As {@link SpatialIndex#put(Object, Box, Object, Duration)}. */
  public CompletableFuture<Long> put(K id, Box box, V value, Duration ttl) {
    return put(id, new Located<>(box, value), ttl);
  }

  /**
   * Reads a search of the blocking view to its end, within the view's deadline.
   *
   * @param consumer gets each entry, one at a time, on threads of the channel. If it throws, the
   *     future fails with that.
   * @return the number of those that the consumer got.
   */
  public CompletableFuture<Long> forEach(
      BoxSearch<K, V> search, Consumer<? super IndexEntry<K, Located<V>>> consumer) {
    try {
      return search.forEachAsync(consumer);
    } catch (IllegalStateException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** As {@link SpatialIndex#count(Box)}. */
  public CompletableFuture<Long> count(Box box) {
    return run(
        Operation.COUNT,
        null,
        future ->
            view.calls()
                .send(
                    future,
                    view.requests().countIn(box),
                    response -> future.succeed(response.getEntries())));
  }

  /** As {@link SpatialIndex#nearest(Point, int, double)}. */
  public CompletableFuture<List<Neighbor<K, V>>> nearest(
      Point point, int limit, double greatestDistance) {
    return nearest(SpatialIndex.inPlane(point, limit).setGreatestDistance(greatestDistance));
  }

  /** As {@link SpatialIndex#nearest(Point, int, double, Filter)}. */
  public CompletableFuture<List<Neighbor<K, V>>> nearest(
      Point point, int limit, double greatestDistance, Filter where) {
    return nearest(
        SpatialIndex.inPlane(point, limit)
            .setGreatestDistance(greatestDistance)
            .setFilter(where.message()));
  }

  /** As {@link SpatialIndex#nearestOnEarth(Point, int, double)}. */
  public CompletableFuture<List<Neighbor<K, V>>> nearestOnEarth(
      Point point, int limit, double greatestMetres) {
    return nearest(SpatialIndex.onEarth(point, limit).setGreatestDistance(greatestMetres));
  }

  /** As {@link SpatialIndex#nearestOnEarth(Point, int, double, Filter)}. */
  public CompletableFuture<List<Neighbor<K, V>>> nearestOnEarth(
      Point point, int limit, double greatestMetres, Filter where) {
    return nearest(
        SpatialIndex.onEarth(point, limit)
            .setGreatestDistance(greatestMetres)
            .setFilter(where.message()));
  }

  private CompletableFuture<List<Neighbor<K, V>>> nearest(NearestRequest.Builder request) {
    return run(
        Operation.NEAREST,
        null,
        future ->
            view.calls()
                .send(
                    future,
                    view.requests().nearest(request),
                    response ->
                        future.succeed(
                            SpatialIndex.neighbors(view, future.run().subject(), response))));
  }
}
