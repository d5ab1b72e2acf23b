package dev.ringfetch.benchmarks.bulk;

import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** A process at one end of a lane: sends or receives on command. */
@Command(name = "lane-process")
final class LaneProcess implements Callable<Integer> {
  @Option(names = "--kind", required = true, description = "${COMPLETION-CANDIDATES}.")
  private LaneKind kind;

  @Option(names = "--file", required = true, description = "Memory that both ends map.")
  private Path file;

  /** Runs the process. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new LaneProcess()).execute(args));
  }

  @Override
  public Integer call() throws Exception {
    final ByteBuffer whole;
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      whole = channel.map(MapMode.READ_WRITE, 0, channel.size());
    }
    final LaneControl control = new LaneControl(whole.slice(0, LaneControl.LENGTH));
    final ByteBuffer memory =
        whole.slice(LaneControl.LENGTH, whole.capacity() - LaneControl.LENGTH);
    final LaneUpload upload = new LaneUpload(kind, control, memory);
    final LaneReceiver receiver = new LaneReceiver(kind, control, memory);
    new CommandLoop()
        .on("mapped", arguments -> new Answer())
        .on("send", arguments -> upload.run(number(arguments, 0), number(arguments, 1)).answer())
        .on(
            "receive",
            arguments -> {
              receiver.run(number(arguments, 0));
              return new Answer();
            })
        .run();
    return CommandLine.ExitCode.OK;
  }

  private static int number(List<String> arguments, int index) {
    return Integer.parseInt(arguments.get(index));
  }
}
