package dev.ringfetch.index.cli;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.Range;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The command that counts entries. */
@Command(name = "count", description = "Count the entries of an index, or of a range of keys.")
final class CountCommand extends ClientCommand {
  @Mixin private RangeOptions range;
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
  }

  @Override
  int run(Connection connection, Output out) {
    final long count;
    if (range.isGiven()) {
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
