package dev.ringfetch.benchmarks;

import dev.ringfetch.benchmarks.bulk.BulkService;
import dev.ringfetch.benchmarks.bulk.InPlace;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.examples.process.Rings;
import dev.ringfetch.examples.verbs.WorkRequests;
import dev.ringfetch.index.service.IndexService;
import dev.ringfetch.index.service.Indexes;
import dev.ringfetch.rpc.RingServerBuilder;
import io.grpc.Server;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The server process: an index and a sink for bulk. It also reports its processor time. */
@Command(name = "bench-server")
final class BenchServer implements Callable<Integer> {
  private static final int END_SECONDS = 10;

  @Option(names = "--direct", description = "Run the handlers on the threads of the transport.")
  private boolean direct;

  @Mixin private Rings rings;

  /** Runs the process. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new BenchServer()).execute(args));
  }

  @Override
  public Integer call() throws Exception {
    final RingServerBuilder builder =
        RingServerBuilder.forPort(0)
            .addService(new IndexService(new Indexes()))
            .addService(new BulkService())
            .addService(InPlace.service())
            .maxInboundMessageSize(BulkService.MAX_MESSAGE_LENGTH);
    rings.apply(builder);
    if (direct) {
      builder.directExecutor();
    }
    final Server server = builder.build().start();
    Footprint.addTo(Allocation.addTo(new CommandLoop()))
        .on("port", arguments -> new Answer().with("port", server.getPort()))
        .on("posted", arguments -> WorkRequests.ofServers().addTo(new Answer()))
        .run();
    if (!server.shutdown().awaitTermination(END_SECONDS, TimeUnit.SECONDS)) {
      server.shutdownNow();
    }
    return CommandLine.ExitCode.OK;
  }
}
