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
  /** More than a request has: a ring for eight of these holds as many requests as are in flight. */
  private static final int MAX_REQUEST = 4096;

  @Option(names = "--kind", required = true, description = "What memory is used as.")
  private LaneKind kind;

  @Option(names = "--file", required = true, description = "Memory that both ends map.")
  private Path file;

  /** Bytes of memory. */
  static int length(LaneKind kind) {
    return kind.length(MAX_REQUEST)
        + kind.length(EchoEnd.MAX_SHORT)
        + kind.length(EchoEnd.MAX_PAYLOAD);
  }

  /** Runs the process. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new EchoProcess()).execute(args));
  }

  @Override
  public Integer call() throws Exception {
    final ByteBuffer memory;
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      memory = channel.map(MapMode.READ_WRITE, 0, length(kind));
    }
    final Lane requests = open(memory, 0, MAX_REQUEST);
    final int answers = kind.length(MAX_REQUEST);
    final int longAnswers = answers + kind.length(EchoEnd.MAX_SHORT);
    new EchoEnd(
            requests,
            open(memory, answers, EchoEnd.MAX_SHORT),
            open(memory, longAnswers, EchoEnd.MAX_PAYLOAD))
        .addTo(new CommandLoop())
        .on("mapped", arguments -> new Answer())
        .run();
    return CommandLine.ExitCode.OK;
  }

  private Lane open(ByteBuffer memory, int offset, int messageLength) {
    return kind.open(memory.slice(offset, kind.length(messageLength)), messageLength);
  }
}
