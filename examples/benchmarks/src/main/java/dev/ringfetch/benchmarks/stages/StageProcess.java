package dev.ringfetch.benchmarks.stages;

import dev.ringfetch.examples.process.CommandLoop;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** A process that measures {@link StageCalls} on command. */
@Command(name = "stages")
public final class StageProcess implements Callable<Integer> {
  /** Runs the process. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new StageProcess()).execute(args));
  }

  @Override
  public Integer call() throws Exception {
    try (StageCalls calls = new StageCalls()) {
      new CommandLoop()
          .on("round", arguments -> calls.round(Long.parseLong(arguments.get(0))).answer())
          .on("bytes", arguments -> calls.bytes(Integer.parseInt(arguments.get(0))).answer())
          .on("idle", arguments -> calls.idle())
          .run();
    }
    return CommandLine.ExitCode.OK;
  }
}
