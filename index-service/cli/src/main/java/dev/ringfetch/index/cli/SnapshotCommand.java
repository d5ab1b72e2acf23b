package dev.ringfetch.index.cli;

import dev.ringfetch.index.v1.SnapshotResponse;
import picocli.CommandLine.Command;

/** The command that makes the server take a snapshot, and waits for it. */
@Command(name = "snapshot", description = "Have the server take a snapshot now.")
final class SnapshotCommand extends ClientCommand {
  SnapshotCommand(Session session) {
    super(session);
  }

  @Override
  boolean isChanging() {
    return true;
  }

  @Override
  int run(Connection connection, Output out) {
    final SnapshotResponse taken = connection.snapshot();
    if (isJson()) {
      out.object()
          .number("number", taken.getNumber())
          .number("records", taken.getRecords())
          .number("bytes", taken.getBytes())
          .end();
    } else {
      out.line(
          "snapshot "
              + taken.getNumber()
              + ": "
              + taken.getRecords()
              + " records, "
              + taken.getBytes()
              + " bytes");
    }
    return ExitCode.OK;
  }
}
