package dev.ringfetch.examples.quickstart;

import dev.ringfetch.index.client.Access;
import dev.ringfetch.index.client.Box;
import dev.ringfetch.index.client.BoxSearch;
import dev.ringfetch.index.client.IndexEntry;
import dev.ringfetch.index.client.Located;
import dev.ringfetch.index.client.Neighbor;
import dev.ringfetch.index.client.Point;
import dev.ringfetch.index.client.SpatialIndex;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;

/**
 * A spatial index of the map with all that was put into it: asks it by calls and directly, and
 * compares each answer with what looking at every entry finds. Used by one thread.
 */
final class MapLayer<V> {
  private static final int NEAREST = 10;
  private static final double GREATEST_METRES = 200_000;

  /** Metres of a degree of latitude: {@link SpatialIndex#nearestOnEarth} has this radius. */
  private static final double METRES_PER_DEGREE = Math.toRadians(6_371_008.8);

  /** Rounding of a product and a root. */
  private static final double TOLERANCE = 1e-9;

  private static final double[] SIZES = {0.02, 0.2, 1, 5}; // degrees

  /** A way to the entries, and what it took. */
  static final class Way<V> {
    private final SpatialIndex<String, V> view;
    private final Histogram searches = new Histogram(3);
    private final Histogram nearest = new Histogram(3);

    private Way(SpatialIndex<String, V> view) {
      this.view = view;
    }

    double searchUs() {
      return searches.getValueAtPercentile(50) / 1e3;
    }

    double nearestUs() {
      return nearest.getValueAtPercentile(50) / 1e3;
    }
  }

  private final SpatialIndex<String, V> index;
  private final Map<String, Located<V>> entries = new HashMap<>();
  private final Map<Access, Way<V>> ways = new EnumMap<>(Access.class);
  private long answers;
  private long found;
  private long mismatches;

  /**
   * Creates it.
   *
   * @param index for writes, and reads by calls.
   * @param memory the same index, read directly.
   */
  MapLayer(SpatialIndex<String, V> index, SpatialIndex<String, V> memory) {
    this.index = index;
    ways.put(Access.RPC, new Way<>(index));
    ways.put(Access.DIRECT, new Way<>(memory.access(Access.DIRECT)));
  }

  /** Writes entries. */
  void load(Map<String, Located<V>> all) {
    index.putAll(all);
    entries.putAll(all);
  }

  SpatialIndex<String, V> index() {
    return index;
  }

  int size() {
    return entries.size();
  }

  /** Answers that were compared. */
  long answers() {
    return answers;
  }

  /** Entries in these answers. */
  long found() {
    return found;
  }

  /** Answers that were wrong. */
  long mismatches() {
    return mismatches;
  }

  Way<V> way(Access access) {
    return ways.get(access);
  }

  /** Asks about so many places by each way, in turns. */
  void ask(int places, Random random) {
    ways.values().forEach(way -> way.searches.reset());
    ways.values().forEach(way -> way.nearest.reset());
    final List<Located<V>> all = List.copyOf(entries.values());
    for (int i = 0; i < places; i++) {
      final Box near = all.get(random.nextInt(all.size())).box();
      final Point point =
          new Point(near.minX() + random.nextGaussian() / 10, clamp(near.minY() + 0.01));
      final Box box = Box.around(point, SIZES[i % SIZES.length]);
      ways.values().forEach(way -> ask(way, point, box));
      check(index.count(box) == entries.values().stream().filter(intersects(box)).count());
    }
  }

  private static double clamp(double latitude) {
    return Math.max(-89, Math.min(89, latitude));
  }

  private static <V> Predicate<Located<V>> intersects(Box box) {
    return located -> box.intersects(located.box());
  }

  private void ask(Way<V> way, Point point, Box box) {
    compare(way, way.view.intersecting(box), intersects(box));
    compare(way, way.view.within(box), located -> box.encloses(located.box()));
    compare(way, way.view.containing(point), located -> located.box().contains(point));
    compare(
        timed(way.nearest, () -> way.view.nearest(point, NEAREST)),
        Double.POSITIVE_INFINITY,
        located -> distance(point, located.box(), 1, 1));
    final double metresX = METRES_PER_DEGREE * Math.cos(Math.toRadians(point.y()));
    compare(
        timed(way.nearest, () -> way.view.nearestOnEarth(point, NEAREST, GREATEST_METRES)),
        GREATEST_METRES,
        located -> distance(point, located.box(), metresX, METRES_PER_DEGREE));
  }

  private void compare(Way<V> way, BoxSearch<String, V> search, Predicate<Located<V>> expected) {
    final List<IndexEntry<String, Located<V>>> answer = timed(way.searches, search::toList);
    found += answer.size();
    final long distinct = answer.stream().map(IndexEntry::key).distinct().count();
    check(
        distinct == answer.size()
            && answer.size() == entries.values().stream().filter(expected).count()
            && answer.stream()
                .allMatch(
                    entry ->
                        expected.test(entry.value())
                            && entry.value().equals(entries.get(entry.key()))));
  }

  private void compare(
      List<Neighbor<String, V>> answer, double greatest, ToDoubleFunction<Located<V>> distance) {
    found += answer.size();
    final double[] expected =
        entries.values().stream()
            .mapToDouble(distance)
            .filter(each -> each <= greatest)
            .sorted()
            .limit(NEAREST)
            .toArray();
    final double[] given = answer.stream().mapToDouble(Neighbor::distance).toArray();
    check(
        areEqual(expected, given)
            && areEqual(
                given,
                answer.stream()
                    .mapToDouble(
                        neighbor -> distance.applyAsDouble(entries.get(neighbor.entry().key())))
                    .toArray()));
  }

  private static boolean areEqual(double[] one, double[] other) {
    boolean equal = one.length == other.length;
    for (int i = 0; equal && i < one.length; i++) {
      equal = Math.abs(one[i] - other[i]) <= TOLERANCE * Math.max(1, one[i]);
    }
    return equal;
  }

  private static double distance(Point point, Box box, double weightX, double weightY) {
    final double x = Math.max(0, Math.max(box.minX() - point.x(), point.x() - box.maxX()));
    final double y = Math.max(0, Math.max(box.minY() - point.y(), point.y() - box.maxY()));
    return Math.hypot(weightX * x, weightY * y);
  }

  private void check(boolean right) {
    answers++;
    mismatches += right ? 0 : 1;
  }

  private static <T> T timed(Histogram histogram, Supplier<T> read) {
    final long beginNs = System.nanoTime();
    final T result = read.get();
    histogram.recordValue(System.nanoTime() - beginNs);
    return result;
  }
}
