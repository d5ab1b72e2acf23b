package dev.ringfetch.benchmarks.spatial;

import java.util.List;
import org.locationtech.jts.geom.Envelope;
import org.locationtech.jts.index.strtree.ItemBoundable;
import org.locationtech.jts.index.strtree.ItemDistance;
import org.locationtech.jts.index.strtree.STRtree;

/** A packed R-tree of JTS on the client's heap. It takes no entry once it was searched. */
final class StrTreeStore implements SpatialStore {
  private final STRtree tree = new STRtree();
  private long usedBytes;

  /** An entry. Its value is there for the memory that it takes: a search gives references. */
  private static final class Item {
    private final int number;
    private final Envelope envelope;

    @SuppressWarnings("unused")
    private final byte[] value;

    Item(int number, Envelope envelope, byte[] value) {
      this.number = number;
      this.envelope = envelope;
      this.value = value;
    }
  }

  @Override
  public void load(Places places) {
    final long before = heapBytes();
    for (int i = 0; i < places.count(); i++) {
      final byte[] value = new byte[Places.VALUE_LENGTH];
      Places.putValue(value, 0, i);
      final Item item = new Item(i, envelope(places.area(i)), value);
      tree.insert(item.envelope, item);
    }
    tree.build();
    usedBytes = heapBytes() - before;
  }

  private static Envelope envelope(Area area) {
    return new Envelope(area.minX(), area.maxX(), area.minY(), area.maxY());
  }

  private static long heapBytes() {
    System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  @Override
  public long usedBytes() {
    return usedBytes;
  }

  @Override
  public void search(Area area, Finds finds) {
    final List<?> found = tree.query(envelope(area));
    for (final Object item : found) {
      finds.take(((Item) item).number);
    }
  }

  @Override
  public void nearest(double x, double y, int limit, double radius, Finds finds) {
    final Item point = new Item(-1, new Envelope(x, x, y, y), new byte[0]);
    final ItemDistance distance = StrTreeStore::distance;
    for (final Object item : tree.nearestNeighbour(point.envelope, point, distance, limit)) {
      finds.take(((Item) item).number);
    }
  }

  private static double distance(ItemBoundable one, ItemBoundable other) {
    return ((Item) one.getItem()).envelope.distance(((Item) other.getItem()).envelope);
  }

  @Override
  public void close() {}
}
