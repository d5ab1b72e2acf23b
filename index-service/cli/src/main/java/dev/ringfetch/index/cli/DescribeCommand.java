package dev.ringfetch.index.cli;

import dev.ringfetch.index.v1.IndexDescription;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** The command that describes one index. */
@Command(name = "describe", description = "Describe an index: kind, durability, entries, memory.")
final class DescribeCommand extends ClientCommand {
  @Mixin private IndexName index;

  DescribeCommand(Session session) {
    super(session);
  }

  @Override
  void check() {
    index.orElse("");
  }

  @Override
  int run(Connection connection, Output out) {
    final String name = index.orElse(session().defaultOf(IndexOption.INDEX));
    final IndexDescription found = connection.require(name);
    if (isJson()) {
      IndexTable.json(found, out).end();
      return ExitCode.OK;
    }
    new TextTable("ll")
        .row("index", Printable.escape(found.getName()))
        .row("kind", IndexTable.kind(found))
        .row("durability", IndexTable.durability(found))
        .row("entries", Printable.number(found.getEntries()))
        .row("partitions", Printable.number(found.getPartitions()))
        .row("incarnation", Long.toHexString(found.getIncarnation()))
        .row("memory", IndexTable.memory(found) + ", of all indexes of the server")
        .print(out, width());
    return ExitCode.OK;
  }
}
