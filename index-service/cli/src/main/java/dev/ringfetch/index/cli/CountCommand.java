package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.Box;
import dev.ringfetch.index.client.BoxSearch;
import dev.ringfetch.index.client.Filter;
import dev.ringfetch.index.client.Range;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command that counts entries. */
@Command(name = "count", description = "Count the entries of an index, or of a range of keys.")
final class CountCommand extends ClientCommand {
  @Mixin private RangeOptions range;

  @Option(
      names = "--box",
      paramLabel = "BOX",
      converter = Coordinates.BoxText.class,
      description = "Those that intersect X1,Y1,X2,Y2, in a spatial index.")
  private Box box;

  @Option(
      names = "--where",
      paramLabel = "FILTER",
      converter = FilterText.Converter.class,
      description = "Only those of a filter: value.int32(8) >= 5.")
  private Filter where;

  @Mixin private IndexOption index;
  @Mixin private TypeOptions types;
  private Range<ByteString> counted;

  CountCommand(Session session) {
    super(session);
  }

  @Override
  void check() {
    index.name(session());
    counted = range.range(types);
    if (box != null && range.isGiven()) {
      throw CommandFailure.misuse("--box goes without a range");
    }
  }

  @Override
  int run(Connection connection, Output out) {
    final long count;
    if (box != null) {
      final BoxSearch<ByteString, ByteString> search =
          connection.requireSpatial(index.name(session()), "--box").intersecting(box);
      count = (where == null ? search : search.where(where)).count();
    } else if (where != null) {
      count =
          connection
              .requireOrdered(index.name(session()), "--where")
              .keys(counted)
              .where(where)
              .count();
    } else if (range.isGiven()) {
      count = connection.requireOrdered(index.name(session()), "a range").count(counted);
    } else {
      connection.require(index.name(session()));
      count = connection.hash(index.name(session())).count();
    }
    if (isJson()) {
      out.object().text("index", index.name(session())).number("entries", count).end();
    } else {
      out.line(Long.toString(count));
    }
    return ExitCode.OK;
  }
}
