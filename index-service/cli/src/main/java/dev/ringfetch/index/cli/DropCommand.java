package dev.ringfetch.index.cli;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
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
  boolean isChanging() {
    return true;
  }

  @Override
  int run(Connection connection, Output out) {
    final String name = index.required();
    final String entries = entries(connection, name);
    if (!yes) {
      confirm("Drop index '" + name + "' with " + entries + "?");
    }
    final boolean dropped = connection.drop(name);
    if (isJson()) {
      out.object().text("index", name).flag("dropped", dropped).end();
    } else {
      out.line("dropped index '" + name + "', " + entries);
    }
    return ExitCode.OK;
  }

  /**
   * The number of entries in words. An index without live nodes has no number, and can be dropped
   * all the same.
   */
  private static String entries(Connection connection, String name) {
    try {
      return "about " + Printable.entries(connection.require(name).getEntries());
    } catch (StatusRuntimeException e) {
      if (e.getStatus().getCode() != Status.Code.UNAVAILABLE) {
        throw e;
      }
      return "an unknown number of entries";
    }
  }
}
