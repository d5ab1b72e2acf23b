package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.index.service.IndexService;
import dev.ringfetch.index.service.Indexes;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** A process with both ends of gRPC's in-process transport. */
@Command(name = "in-process")
final class InProcess implements Callable<Integer> {
  private static final int END_SECONDS = 10;

  @Option(names = "--direct", description = "Use direct executors at both ends.")
  private boolean direct;

  /** Runs the process. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new InProcess()).execute(args));
  }

  /** Starts the process and makes the first call. */
  static PeerContender start(Setup setup, List<String> flags) throws IOException {
    final ChildProcess process =
        ChildProcess.start(
            flags, InProcess.class, setup == Setup.direct ? List.of("--direct") : List.of());
    try {
      process.ask("connect");
      return new StubPeer(process, process, process::close);
    } catch (RuntimeException e) {
      process.close();
      throw e;
    }
  }

  @Override
  public Integer call() throws Exception {
    final String name = InProcessServerBuilder.generateName();
    final InProcessServerBuilder serving =
        InProcessServerBuilder.forName(name).addService(new IndexService(new Indexes()));
    final InProcessChannelBuilder asking = InProcessChannelBuilder.forName(name);
    if (direct) {
      serving.directExecutor();
      asking.directExecutor();
    }
    final Server server = serving.build().start();
    final ManagedChannel channel = asking.build();
    final StubCalls calls = new StubCalls(channel);
    calls
        .addTo(Allocation.addTo(new CommandLoop()))
        .on(
            "connect",
            arguments -> {
              calls.connect();
              return new Answer();
            })
        .run();
    channel.shutdown();
    if (!server.shutdown().awaitTermination(END_SECONDS, TimeUnit.SECONDS)) {
      server.shutdownNow();
    }
    return CommandLine.ExitCode.OK;
  }
}
