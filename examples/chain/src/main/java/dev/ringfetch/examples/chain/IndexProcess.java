package dev.ringfetch.examples.chain;

import dev.ringfetch.examples.load.Side;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.examples.process.Rings;
import dev.ringfetch.index.service.IndexService;
import dev.ringfetch.index.service.Indexes;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The process of the index, which calls no other service. */
@Command(name = "chain-index")
final class IndexProcess implements Callable<Integer> {
  @Option(names = "--transport", required = true, description = "${COMPLETION-CANDIDATES}.")
  private Side side;

  @Option(names = "--telemetry", description = "Trace calls.")
  private boolean traced;

  @Mixin private Rings rings;

  /** Runs the process. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new IndexProcess()).execute(args));
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    final CommandLoop loop = ServiceProcess.loop(traced); // first: the server is to be traced
    ServiceProcess.serve(side.serverBuilder(rings), new IndexService(new Indexes()), loop);
    return CommandLine.ExitCode.OK;
  }
}
