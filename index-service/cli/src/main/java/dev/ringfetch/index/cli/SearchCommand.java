package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.Box;
import dev.ringfetch.index.client.BoxSearch;
import dev.ringfetch.index.client.Filter;
import dev.ringfetch.index.client.IndexEntry;
import dev.ringfetch.index.client.Located;
import dev.ringfetch.index.client.Point;
import dev.ringfetch.index.client.ScanIterator;
import dev.ringfetch.index.client.SpatialIndex;
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
      names = {"-n", "--limit"},
      paramLabel = "N",
      converter = PositiveNumber.class,
      description = "At most so many entries.")
  private Long limit;

  @Option(
      names = "--where",
      paramLabel = "FILTER",
      converter = FilterText.Converter.class,
      description = "Only those of a filter: value.int32(8) >= 5.")
  private Filter where;

  @Option(names = "--direct", description = "Read the memory of the index, not by calls.")
  private boolean direct;

  @Mixin private IndexOption index;
  @Mixin private TypeOptions types;

  SearchCommand(Session session) {
    super(session);
  }

  @Override
  void check() {
    index.name(session());
    if (Stream.of(box, within, at).filter(Objects::nonNull).count() != 1) {
      throw CommandFailure.misuse("one of --box, --within and --at is needed");
    }
  }

  @Override
  int run(Connection connection, Output out) {
    final SpatialIndex<ByteString, ByteString> view =
        DirectAccess.of(direct).view(connection.requireSpatial(index.name(session()), "a search"));
    final BoxTable table = new BoxTable(types, isJson() ? -1 : width(), out);
    final long count = search(view, table);
    table.end();
    if (count == 0 && !isJson()) {
      stdio().note("no entry there in index '" + index.name(session()) + "'");
    }
    if (direct) {
      DirectAccess.noteCalls(connection, stdio());
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
    search = where == null ? search : search.where(where);
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
}
