package dev.ringfetch.benchmarks.bulk;

import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.CommandLoop;
import io.aeron.Aeron;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.agrona.IoUtil;
import org.agrona.concurrent.SleepingMillisIdleStrategy;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** A process with an {@link EchoEnd} on streams of Aeron; that of the server has the driver. */
@Command(name = "aeron-process")
public final class AeronProcess implements Callable<Integer> {
  /** Smaller than by default, as memory has to hold three for each stream. */
  private static final int TERM_LENGTH = 16 * 1024 * 1024;

  @Option(names = "--directory", description = "Of the driver. Default: one of its own.")
  private String directory;

  /** Runs the process. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new AeronProcess()).execute(args));
  }

  /** Starts both processes and connects them. */
  public static EchoPair start(List<String> flags) throws IOException {
    final List<String> ofBoth = new ArrayList<>(flags);
    ofBoth.addAll(LaneKind.agrona.flags());
    return EchoPair.join(
        ChildProcess.start(ofBoth, AeronProcess.class, List.of()),
        server ->
            ChildProcess.start(
                ofBoth,
                AeronProcess.class,
                List.of("--directory", server.ask("directory").text("directory"))),
        "connect");
  }

  @Override
  public Integer call() throws IOException {
    if (directory != null) {
      run(false);
      return CommandLine.ExitCode.OK;
    }
    final MediaDriver.Context context =
        new MediaDriver.Context()
            // Messages do not go through the driver: it creates the streams, and limits senders.
            .threadingMode(ThreadingMode.SHARED)
            .sharedIdleStrategy(new SleepingMillisIdleStrategy(1))
            .ipcTermBufferLength(TERM_LENGTH)
            .dirDeleteOnShutdown(true);
    try (MediaDriver driver = MediaDriver.launchEmbedded(context)) {
      directory = driver.aeronDirectoryName();
      Runtime.getRuntime()
          .addShutdownHook(new Thread(() -> IoUtil.delete(new File(directory), true)));
      run(true);
    }
    return CommandLine.ExitCode.OK;
  }

  private void run(boolean server) throws IOException {
    try (Aeron aeron = Aeron.connect(new Aeron.Context().aeronDirectoryName(directory))) {
      final AeronLane requests =
          server
              ? AeronLane.receiving(aeron, AeronLane.REQUESTS)
              : AeronLane.sending(aeron, AeronLane.REQUESTS);
      final AeronLane answers =
          server
              ? AeronLane.sending(aeron, AeronLane.ANSWERS)
              : AeronLane.receiving(aeron, AeronLane.ANSWERS);
      new EchoEnd(requests, answers, answers)
          .addTo(new CommandLoop())
          .on("directory", arguments -> new Answer().with("directory", directory))
          .on(
              "connect",
              arguments -> {
                requests.prepare();
                answers.prepare();
                return new Answer();
              })
          .run();
    }
  }
}
