package dev.ringfetch.index.cli;

import dev.ringfetch.index.service.Salvage;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** The command that writes what is left of a damaged data directory to a new one. */
@Command(
    name = "salvage",
    description = {
      "Write what is left of a damaged data directory to a new one.",
      "It prints what was found and what is missing. Where records are lost, older",
      "values and removed entries may be back: compare before you serve it."
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
  int run(Output out) throws IOException {
    for (final String line : Salvage.run(damaged, target, memory())) {
      if (isJson()) {
        out.object().text("report", line).end();
      } else {
        out.line(line);
      }
    }
    return ExitCode.OK;
  }
}
