package dev.ringfetch.index.cli;

import dev.ringfetch.index.service.Salvage;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** The command that copies the readable entries of a damaged data directory to a new one. */
@Command(
    name = "salvage",
    description = {
      "Write what is left of a damaged data directory to a new one.",
      "It prints what was found and what is missing. Where records are lost, older",
      "values and removed entries may be back: compare before you serve it.",
      "Exit code 1 if anything is missing, or may be; 0 if all entries are there."
    })
final class SalvageCommand extends OfflineCommand {
  @Parameters(index = "0", paramLabel = "DIR", description = "The damaged one: is not changed.")
  private Path damaged;

  @Parameters(index = "1", paramLabel = "NEW", description = "The new one: absent, or empty.")
  private Path target;

  SalvageCommand(Session session) {
    super(session);
  }

  @Override
  boolean isChanging() {
    return true;
  }

  @Override
  int run(Output out) throws IOException {
    final Salvage.Report report = Salvage.run(damaged, target, memory());
    for (final String line : report.lines()) {
      if (isJson()) {
        out.object().text("report", line).end();
      } else {
        out.line(line);
      }
    }
    if (isJson()) {
      out.object().flag("complete", report.isComplete()).end();
    } else {
      out.line(report.isComplete() ? "nothing is missing" : "entries are missing, or may be");
    }
    return report.isComplete() ? ExitCode.OK : ExitCode.FAILED;
  }
}
