package dev.ringfetch.index.cli;

import dev.ringfetch.index.AtLeast;
import dev.ringfetch.index.DurabilityLevel;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexKind;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command that creates an index. */
@Command(name = "create", description = "Create an index. One that is there already is no error.")
final class CreateCommand extends ClientCommand {
  /** The kinds of indexes that can be created. */
  enum Kind {
    ORDERED(IndexKind.ORDERED),
    HASH(IndexKind.HASH),
    SPATIAL(IndexKind.SPATIAL);

    private final IndexKind kind;

    Kind(IndexKind kind) {
      this.kind = kind;
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  @Mixin private IndexName index;

  @Option(
      names = "--kind",
      paramLabel = "KIND",
      defaultValue = "ordered",
      description = "ordered: with ranges of keys; hash: without; spatial: with boxes.")
  private Kind kind;

  @Option(
      names = "--durability",
      paramLabel = "LEVEL",
      converter = DurabilityLevel.class,
      description =
          "What writes survive: memory, interval, disk, leader-disk. Default: the server's.")
  private Durability durability = Durability.DURABILITY_UNSPECIFIED;

  @Option(
      names = "--replicas",
      paramLabel = "N",
      converter = AtLeast.One.class,
      description = "Nodes of a cluster that have it. Default: what the server says.")
  private int replicas;

  CreateCommand(Session session) {
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
    connection
        .describe(name)
        .filter(found -> found.getKind() != kind.kind)
        .ifPresent(
            found -> {
              throw new CommandFailure(
                  ExitCode.FAILED,
                  "index '"
                      + name
                      + "' is there as "
                      + IndexTable.kind(found)
                      + ", not as "
                      + kind
                      + ": drop it first, or take another name");
            });
    final boolean created = connection.create(name, kind.kind, durability, replicas);
    if (isJson()) {
      out.object().text("index", name).text("kind", "" + kind).flag("created", created).end();
    } else {
      out.line((created ? "created " : "there already: ") + "index '" + name + "', " + kind);
    }
    return ExitCode.OK;
  }
}
