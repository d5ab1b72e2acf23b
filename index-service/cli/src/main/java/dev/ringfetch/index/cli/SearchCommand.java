package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.Box;
import dev.ringfetch.index.client.BoxSearch;
import dev.ringfetch.index.client.IndexEntry;
import dev.ringfetch.index.client.Located;
import dev.ringfetch.index.client.Neighbor;
import dev.ringfetch.index.client.Point;
import dev.ringfetch.index.client.ScanIterator;
import dev.ringfetch.index.client.SpatialIndex;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command that lists the entries of a spatial index by their boxes. */
@Command(
    name = "search",
    hidden = true, // the list of commands fills its screen, and names it with scan
    description = "List entries of a spatial index by their boxes.")
final class SearchCommand extends ClientCommand {
  private static final int NEAREST_DEFAULT = 10;
  private static final int NEAREST_MAX = 1000;

  @Option(
      names = "--box",
      paramLabel = "BOX",
      converter = Coordinates.BoxText.class,
      description = "Those that intersect X1,Y1,X2,Y2.")
  private Box box;

  @Option(
      names = "--within",
      paramLabel = "BOX",
      converter = Coordinates.BoxText.class,
      description = "Those that are within X1,Y1,X2,Y2.")
  private Box within;

  @Option(
      names = "--at",
      paramLabel = "X,Y",
      converter = Coordinates.PointText.class,
      description = "Those that contain a point.")
  private Point at;

  @Option(
      names = "--near",
      paramLabel = "X,Y",
      converter = Coordinates.PointText.class,
      description = "The nearest to a point; 10, or -n.")
  private Point near;

  @Option(names = "--distance", paramLabel = "D", description = "With --near: at most so far away.")
  private Double distance;

  @Option(names = "--earth", description = "With --near: longitude and latitude, in metres.")
  private boolean earth;

  @Option(
      names = {"-n", "--limit"},
      paramLabel = "N",
      converter = PositiveNumber.class,
      description = "At most so many entries.")
  private Long limit;

  @Mixin private IndexOption index;
  @Mixin private TypeOptions types;

  SearchCommand(Session session) {
    super(session);
  }

  @Override
  void check() {
    index.name(session());
    if (Stream.of(box, within, at, near).filter(Objects::nonNull).count() != 1) {
      throw CommandFailure.misuse("one of --box, --within, --at and --near is needed");
    }
    if (near == null && (distance != null || earth)) {
      throw CommandFailure.misuse("--distance and --earth go with --near");
    }
    if (near != null && limit != null && limit > NEAREST_MAX) {
      throw CommandFailure.misuse("-n: at most " + NEAREST_MAX + " with --near");
    }
  }

  @Override
  int run(Connection connection, Output out) {
    final SpatialIndex<ByteString, ByteString> view =
        connection.requireSpatial(index.name(session()), "a search");
    final BoxTable table = new BoxTable(types, isJson() ? -1 : width(), out);
    final long count = near == null ? search(view, table) : nearest(view, table);
    table.end();
    if (count == 0 && !isJson()) {
      stdio().note("no entry there in index '" + index.name(session()) + "'");
    }
    return ExitCode.OK;
  }

  private long search(SpatialIndex<ByteString, ByteString> view, BoxTable table) {
    BoxSearch<ByteString, ByteString> search;
    if (box != null) {
      search = view.intersecting(box);
    } else {
      search = within != null ? view.within(within) : view.containing(at);
    }
    search = limit == null ? search : search.limit(limit);
    long count = 0;
    try (ScanIterator<IndexEntry<ByteString, Located<ByteString>>> found = search.iterator()) {
      while (!stop().isRequested() && found.hasNext()) {
        table.add(found.next());
        count++;
      }
    }
    return count;
  }

  private long nearest(SpatialIndex<ByteString, ByteString> view, BoxTable table) {
    final int most = limit == null ? NEAREST_DEFAULT : limit.intValue();
    final double greatest = distance == null ? Double.MAX_VALUE : distance;
    final List<Neighbor<ByteString, ByteString>> found =
        earth ? view.nearestOnEarth(near, most, greatest) : view.nearest(near, most, greatest);
    found.forEach(table::add);
    return found.size();
  }
}
