package dev.ringfetch.benchmarks.bulk;

import dev.ringfetch.examples.load.Stopwatch;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** A process at one end of two lanes: makes calls or answers them when asked to. */
@Command(name = "echo-process")
final class EchoProcess implements Callable<Integer> {
  private static final int PAYLOAD = 32;

  /** Bytes of a lane. */
  private static final int LANE = RawLane.length(PAYLOAD);

  /** Bytes of memory. */
  static final int LENGTH = 2 * LANE;

  @Option(names = "--file", required = true, description = "Memory that both ends map.")
  private Path file;

  private final byte[] sent = new byte[PAYLOAD];
  private final byte[] received = new byte[PAYLOAD];
  private RawLane requests;
  private RawLane answers;

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
    requests = new RawLane(memory.slice(0, LANE), PAYLOAD);
    answers = new RawLane(memory.slice(LANE, LANE), PAYLOAD);
    final Stopwatch stopwatch = new Stopwatch();
    new CommandLoop()
        .on("mapped", arguments -> new Answer())
        .on("echo", arguments -> echo())
        .on(
            "round",
            arguments -> {
              final Answer figures =
                  stopwatch.runFor(this::ask, Long.parseLong(arguments.get(0))).answer();
              requests.end();
              return figures;
            })
        .run();
    return CommandLine.ExitCode.OK;
  }

  /** Answers until the other end has ended. */
  private Answer echo() {
    while (requests.receive(received) != Lane.END) {
      answers.send(received);
    }
    return new Answer();
  }

  /** One call, unlike the one before. */
  private void ask() {
    sent[0]++;
    requests.send(sent);
    if (answers.receive(received) != PAYLOAD || !Arrays.equals(sent, received)) {
      throw new IllegalStateException("not what was asked");
    }
  }
}
