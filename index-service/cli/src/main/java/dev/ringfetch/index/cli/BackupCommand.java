package dev.ringfetch.index.cli;

import dev.ringfetch.index.AtLeast;
import dev.ringfetch.index.service.Backup;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command that copies the data directory of a running server. */
@Command(
    name = "backup",
    description = {
      "Copy the data directory of a running server.",
      "To restore, serve the copy: index serve --data NEW. Never serve both."
    })
final class BackupCommand extends ClientCommand {
  @Parameters(index = "0", paramLabel = "NEW", description = "The copy: absent, or empty.")
  private Path target;

  @Option(
      names = "--keep",
      paramLabel = "N",
      converter = AtLeast.One.class,
      description = {
        "Make the copy in NEW, named by the time, and delete all",
        "but the newest N there. Default: NEW is the copy."
      })
  private Integer keep;

  BackupCommand(Session session) {
    super(session);
  }

  @Override
  void check() {
    if (ServerAddress.isOfCluster(server().server())) {
      throw CommandFailure.misuse(
          "a backup is of one server's directory: --server names more: " + server().server());
    }
  }

  @Override
  boolean isChanging() {
    return true;
  }

  @Override
  int run(Connection connection, Output out) throws IOException {
    final BackupSeries series = keep == null ? null : BackupSeries.open(target, Clock.systemUTC());
    final Path copy = series == null ? target : series.next();
    connection.snapshot();
    final Backup backup = connection.backUp(copy);
    final int deleted = series == null ? 0 : series.prune(keep);
    if (isJson()) {
      out.object()
          .text("data", copy.toString())
          .number("snapshot", backup.snapshot())
          .number("bytes", backup.bytes())
          .number("deleted", deleted)
          .end();
    } else {
      out.line(
          "copied "
              + Printable.bytes(backup.bytes())
              + " to "
              + copy
              + (deleted == 0
                  ? ""
                  : "; deleted " + Printable.count(deleted, "older copy", "older copies")));
    }
    return ExitCode.OK;
  }
}
