package dev.ringfetch.examples.quickstart;

import com.google.protobuf.ByteString;
import dev.ringfetch.examples.load.Svg;
import dev.ringfetch.index.client.Box;
import dev.ringfetch.index.client.IndexEntry;
import dev.ringfetch.index.client.Located;
import dev.ringfetch.index.client.Neighbor;
import dev.ringfetch.index.client.Point;
import java.util.List;

/** A picture of a part of the map: what searches have found there. */
final class MapPicture {
  private static final int WIDTH = 900;
  private static final long NAMED = 500_000; // people
  private static final double PEOPLE_PER_AREA = 40_000;

  private final Box frame;
  private final double scaleX;
  private final double scaleY;
  private final Svg svg;

  MapPicture(Box frame) {
    this.frame = frame;
    final double middle = Math.toRadians((frame.minY() + frame.maxY()) / 2);
    scaleX = WIDTH / (frame.maxX() - frame.minX());
    scaleY = scaleX / Math.cos(middle);
    svg = new Svg(WIDTH, (int) (scaleY * (frame.maxY() - frame.minY())));
  }

  private double x(double longitude) {
    return (longitude - frame.minX()) * scaleX;
  }

  private double y(double latitude) {
    return (frame.maxY() - latitude) * scaleY;
  }

  /** Draws a border. */
  void arc(IndexEntry<String, Located<ByteString>> found) {
    final MapArc arc = MapArc.of(found.value().value());
    final double[] xs = arc.xs();
    final double[] ys = arc.ys();
    for (int i = 0; i < xs.length; i++) {
      xs[i] = x(xs[i]);
      ys[i] = y(ys[i]);
    }
    svg.polyline(xs, ys, "#bbbbbb", 1);
  }

  /** Draws a city, a large one with its name. */
  void city(IndexEntry<String, Located<Long>> found) {
    final Box box = found.value().box();
    final long people = found.value().value();
    final double radius = Math.max(0.7, Math.sqrt(people / PEOPLE_PER_AREA));
    svg.dot(x(box.minX()), y(box.minY()), radius, "#4477aa");
    final String name = found.key().replaceFirst(", .*", "");
    if (people >= NAMED && name.chars().noneMatch(c -> "<>&".indexOf(c) >= 0)) {
      svg.text(x(box.minX()) + radius + 2, y(box.minY()) + 4, name);
    }
  }

  /** Draws lines from a point to what is nearest. */
  void nearest(Point point, List<Neighbor<String, Long>> found) {
    for (final Neighbor<String, Long> neighbor : found) {
      final Box box = neighbor.entry().value().box();
      svg.line(x(point.x()), y(point.y()), x(box.minX()), y(box.minY()), "#cc3311", 1);
    }
  }

  /** Draws a box that was watched. */
  void box(Box box, String colour) {
    final double[] xs = {box.minX(), box.maxX(), box.maxX(), box.minX(), box.minX()};
    final double[] ys = {box.minY(), box.minY(), box.maxY(), box.maxY(), box.minY()};
    for (int i = 0; i < xs.length; i++) {
      xs[i] = x(xs[i]);
      ys[i] = y(ys[i]);
    }
    svg.polyline(xs, ys, colour, 1);
  }

  /** Draws a vehicle. */
  void vehicle(Box place) {
    svg.dot(x(place.minX()), y(place.minY()), 2, "#228833");
  }

  @Override
  public String toString() {
    return svg.toString();
  }
}
