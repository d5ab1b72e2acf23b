package dev.ringfetch.index.cli;

import dev.ringfetch.index.service.Backup;
import dev.ringfetch.index.v1.SnapshotResponse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** The command that copies the data directory of a server that runs on this host. */
@Command(
    name = "backup",
    description = {
      "Copy the data directory of a running server on this host.",
      "To restore, serve the copy: index serve --data NEW. Never serve both."
    })
final class BackupCommand extends ClientCommand {
  @Parameters(index = "0", paramLabel = "DIR", description = "Data directory of the server.")
  private Path data;

  @Parameters(index = "1", paramLabel = "NEW", description = "The copy: absent, or empty.")
  private Path target;

  BackupCommand(Session session) {
    super(session);
  }

  @Override
  void check() {
    if (!Files.isRegularFile(data.resolve("identity"))) {
      throw new CommandFailure(ExitCode.FAILED, data + ": not a data directory");
    }
  }

  @Override
  boolean isChanging() {
    return true;
  }

  @Override
  int run(Connection connection, Output out) throws IOException {
    final SnapshotResponse snapshot = connection.snapshot();
    final Backup backup = Backup.of(data, target);
    if (backup.snapshot() < snapshot.getNumber()) {
      throw new CommandFailure(
          ExitCode.FAILED,
          "snapshot "
              + snapshot.getNumber()
              + " of "
              + server().server()
              + " is not in "
              + data
              + ": is that its data directory?");
    }
    if (isJson()) {
      out.object()
          .text("data", target.toString())
          .number("snapshot", backup.snapshot())
          .number("bytes", backup.bytes())
          .end();
    } else {
      out.line("copied " + Printable.bytes(backup.bytes()) + " to " + target);
    }
    return ExitCode.OK;
  }
}
