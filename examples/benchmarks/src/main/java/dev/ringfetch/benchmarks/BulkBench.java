package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Machine;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** A benchmark of bulk from a client's process to a server's, and of small calls beside it. */
@Command(
    name = "bulk",
    modelTransformer = RunOptions.Adding.class,
    mixinStandardHelpOptions = true,
    description = {
      "Measures bulk from a client's process to a server's, and small calls beside it.",
      "Of memory alone (raw), Agrona's ring buffer, gRPC, and the ring. Tables come at the end."
    })
final class BulkBench implements Callable<Integer> {
  private final PrintStream out = System.out;
  private final Marks marks = new Marks();

  @Mixin
  private final RunOptions options =
      new RunOptions()
          .withQuick("Fewer and shorter rounds; figures vary more.")
          .withRounds(5, 3)
          .withMillis(500, 150)
          .withWarmUp("Milliseconds before the first round of each. Default: %s.", 800, 200);

  @Option(
      names = "--payloads",
      split = ",",
      defaultValue = "65536,1048576,67108864",
      description = "Bytes in a message. Default: ${DEFAULT-VALUE}.")
  private List<Integer> payloads;

  @Option(
      names = "--peers",
      split = ",",
      defaultValue = "raw,agrona,grpc,ring",
      description = "Default: ${DEFAULT-VALUE}.")
  private List<BulkPeer> peers;

  @Option(names = "--direct-only", description = "Leave default executors out.")
  private boolean directOnly;

  @Option(names = "--skip-uploads", description = "Measure small calls only.")
  private boolean skipUploads;

  @Option(names = "--skip-small-calls", description = "Measure uploads only.")
  private boolean skipSmallCalls;

  @Override
  public Integer call() throws IOException {
    Machine.print(out);
    final Schedule schedule = new Schedule(options.rounds(), options.millis(), options.warmUp());
    out.printf(
        "%d rounds of %d ms, by turns; median [least .. most] of them; gRPC and ring JVMs: %s%n",
        schedule.rounds(), schedule.millis(), String.join(" ", BulkProcesses.FLAGS));
    final List<Executors> executors =
        directOnly ? List.of(Executors.direct) : List.of(Executors.values());
    try (BulkProcesses processes = BulkProcesses.start(peers, executors)) {
      final UploadBench uploads = new UploadBench(processes, schedule, marks);
      if (!skipUploads) {
        payloads.forEach(uploads::measure);
      }
      final SmallCallBench smallCalls = new SmallCallBench(processes, schedule, marks);
      if (!skipSmallCalls) {
        executors.forEach(smallCalls::measure);
      }
      processes.checkRings();
      uploads.print(out);
      smallCalls.print(out);
      out.printf("%n%s%n", marks.line());
    }
    return CommandLine.ExitCode.OK;
  }

  /** The contenders. */
  enum BulkPeer {
    /** Memory and nothing else. */
    raw,
    /** Agrona's ring buffer. */
    agrona,
    /** gRPC over HTTP/2, by netty. */
    grpc,
    /** The ring. */
    ring
  }

  /** The executors of handlers and callbacks. */
  enum Executors {
    /** The threads of the transport. */
    direct("direct"),
    /** The builder's default executor. */
    standard("default");

    private final String text;

    Executors(String text) {
      this.text = text;
    }

    /** For tables. */
    String text() {
      return text;
    }
  }

  /**
   * Numbers and lengths of the rounds.
   *
   * @param rounds how many.
   * @param millis length of a round.
   * @param warmUp milliseconds before the first.
   */
  record Schedule(int rounds, int millis, int warmUp) {}
}
