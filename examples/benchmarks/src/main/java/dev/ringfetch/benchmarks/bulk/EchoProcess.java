package dev.ringfetch.benchmarks.bulk;

import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** A process with an {@link EchoEnd} in memory of two processes. */
@Command(name = "echo-process")
final class EchoProcess implements Callable<Integer> {
  private static final int REQUESTS = RawLane.length(EchoEnd.REQUEST);
  private static final int ANSWERS = RawLane.length(EchoEnd.MAX_PAYLOAD);

  /** Bytes of memory. */
  static final int LENGTH = REQUESTS + ANSWERS;

  @Option(names = "--file", required = true, description = "Memory that both ends map.")
  private Path file;

  /** Runs the process. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new EchoProcess()).execute(args));
  }

  @Override
  public Integer call() throws Exception {
    final ByteBuffer memory;
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      memory = channel.map(MapMode.READ_WRITE, 0, LENGTH);
    }
    final EchoEnd end =
        new EchoEnd(
            new RawLane(memory.slice(0, REQUESTS), EchoEnd.REQUEST),
            new RawLane(memory.slice(REQUESTS, ANSWERS), EchoEnd.MAX_PAYLOAD));
    end.addTo(new CommandLoop()).on("mapped", arguments -> new Answer()).run();
    return CommandLine.ExitCode.OK;
  }
}
