package dev.ringfetch.index.cli;

import dev.ringfetch.index.client.TopicPartition;
import dev.ringfetch.index.v1.IndexDescription;
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
    final String entries = entries(known(connection, name));
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
   * The description of the index; null where it has no live nodes: it can be dropped all the same.
   */
  private static IndexDescription known(Connection connection, String name) {
    final IndexDescription index;
    try {
      index = connection.require(name);
    } catch (StatusRuntimeException e) {
      if (e.getStatus().getCode() != Status.Code.UNAVAILABLE) {
        throw e;
      }
      return null;
    }
    if (index.hasAppends()) {
      TopicPartition.ofIndex(name).ifPresent(DropCommand::refuse);
    }
    return index;
  }

  private static void refuse(TopicPartition partition) {
    throw CommandFailure.misuse(
        "'%s' is a partition of topic '%s': '%s topic delete' deletes the topic"
            .formatted(partition.index(), partition.topic(), IndexProgram.NAME));
  }

  /** The number of entries in words. */
  private static String entries(IndexDescription index) {
    return index == null
        ? "an unknown number of entries"
        : "about " + Printable.entries(index.getEntries());
  }
}
