package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.Filter;
import dev.ringfetch.index.client.Neighbor;
import dev.ringfetch.index.client.Point;
import dev.ringfetch.index.client.SpatialIndex;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command that lists the entries of a spatial index that are nearest to a point. */
@Command(
    name = "nearest",
    hidden = true, // the list of commands fills its screen, and names it with scan
    description = "List the entries of a spatial index nearest to a point, and how far.")
final class NearestCommand extends ClientCommand {
  private static final int MAX = 1000;

  @Option(
      names = "--at",
      paramLabel = "X,Y",
      required = true,
      converter = Coordinates.PointText.class,
      description = "The point.")
  private Point at;

  @Option(
      names = "--distance",
      paramLabel = "D",
      defaultValue = "1e300",
      description = "At most so far away. Default: any.")
  private double distance;

  @Option(names = "--earth", description = "X is longitude, Y latitude; distances in metres.")
  private boolean earth;

  @Option(
      names = {"-n", "--limit"},
      paramLabel = "N",
      defaultValue = "10",
      converter = PositiveNumber.class,
      description = "At most so many entries. Default: 10; at most 1000.")
  private Long limit;

  @Option(
      names = "--where",
      paramLabel = "FILTER",
      converter = FilterText.Converter.class,
      description = "Only those of a filter: located.int32(8) >= 5.")
  private Filter where;

  @Option(names = "--direct", description = "Read the memory of the index, not by calls.")
  private boolean direct;

  @Mixin private IndexOption index;
  @Mixin private TypeOptions types;

  NearestCommand(Session session) {
    super(session);
  }

  @Override
  void check() {
    index.name(session());
    if (limit > MAX) {
      throw CommandFailure.misuse("--limit is at most " + MAX);
    }
    if (!(distance >= 0)) {
      throw CommandFailure.misuse("--distance is not negative");
    }
    if (earth && (Math.abs(at.x()) > 180 || Math.abs(at.y()) >= 90)) {
      throw CommandFailure.misuse(
          "--earth: X is a longitude from -180 to 180 and Y a latitude between -90 and 90");
    }
  }

  @Override
  int run(Connection connection, Output out) {
    final SpatialIndex<ByteString, ByteString> view =
        DirectAccess.of(direct).view(connection.requireSpatial(index.name(session()), name()));
    final int most = limit.intValue();
    final List<Neighbor<ByteString, ByteString>> found =
        where == null
            ? earth ? view.nearestOnEarth(at, most, distance) : view.nearest(at, most, distance)
            : earth
                ? view.nearestOnEarth(at, most, distance, where)
                : view.nearest(at, most, distance, where);
    final BoxTable table = new BoxTable(types, isJson() ? -1 : width(), out);
    found.forEach(table::add);
    table.end();
    if (found.isEmpty() && !isJson()) {
      stdio().note("no entry there in index '" + index.name(session()) + "'");
    }
    if (direct) {
      DirectAccess.noteCalls(connection, stdio());
    }
    return ExitCode.OK;
  }
}
