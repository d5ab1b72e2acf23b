package dev.ringfetch.index.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command of a shell that sets the index of the commands that follow. */
@Command(name = "use", description = "Set the index of the commands that follow.")
final class UseCommand implements Callable<Integer> {
  private final Session session;

  @Parameters(
      paramLabel = "NAME",
      completionCandidates = Completion.Indexes.class,
      description = "Name of the index, such as default.")
  private String index;

  @SuppressWarnings("UnusedVariable") // picocli looks at it
  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Print this.")
  private boolean help;

  UseCommand(Session session) {
    this.session = session;
  }

  @Override
  public Integer call() {
    if (index.isEmpty()) {
      throw CommandFailure.misuse("the name of an index is not empty");
    }
    session.setDefault(IndexOption.INDEX, index);
    return ExitCode.OK;
  }
}
