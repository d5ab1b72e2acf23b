package dev.ringfetch.index.cli;

import dev.ringfetch.index.v1.IndexDescription;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command that drops an index. */
@Command(name = "drop", description = "Drop an index with all its entries.")
final class DropCommand extends ClientCommand {
  @Mixin private IndexName index;

  @Option(
      names = {"-y", "--yes"},
      description = "Do not ask at the terminal.")
  private boolean yes;

  DropCommand(Session session) {
    super(session);
  }

  @Override
  void check() {
    index.required();
  }

  @Override
  int run(Connection connection, Output out) {
    final String name = index.required();
    final IndexDescription found = connection.require(name);
    if (!yes) {
      confirm("Drop index '" + name + "' with " + Printable.entries(found.getEntries()) + "?");
    }
    final boolean dropped = connection.drop(name);
    if (isJson()) {
      out.object().text("index", name).flag("dropped", dropped).end();
    } else {
      out.line("dropped index '" + name + "', about " + Printable.entries(found.getEntries()));
    }
    return ExitCode.OK;
  }
}
