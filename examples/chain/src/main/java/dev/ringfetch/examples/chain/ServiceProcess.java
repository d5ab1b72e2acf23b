package dev.ringfetch.examples.chain;

import dev.ringfetch.examples.load.Connection;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import io.grpc.BindableService;
import io.grpc.Channel;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The process of a service that calls another one. Nothing of Ringfetch but the builders. */
@Command(name = "chain-service")
final class ServiceProcess implements Callable<Integer> {
  private static final int END_SECONDS = 10;

  @Option(names = "--part", required = true, description = "${COMPLETION-CANDIDATES}.")
  private Part part;

  @Option(names = "--telemetry", description = "Trace calls.")
  private boolean traced;

  @Mixin private Connection connection;

  /** Runs the process. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new ServiceProcess()).execute(args));
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    final CommandLoop loop = loop(traced).on("describe", arguments -> connection.describe());
    serve(connection.serverBuilder(), service(connection.channel(), loop), loop);
    connection.close();
    return CommandLine.ExitCode.OK;
  }

  private BindableService service(Channel channel, CommandLoop loop) {
    return switch (part) {
      case gateway -> new GatewayService(channel);
      case pricing -> new PricingService(channel);
      case inventory -> {
        final InventoryService service = new InventoryService(channel);
        service.addTo(loop);
        yield service;
      }
      case shopper, index -> throw new IllegalArgumentException("calls no service: " + part);
    };
  }

  /** The commands of a process. Its channels and servers are built afterwards: they are traced. */
  static CommandLoop loop(boolean traced) {
    final CommandLoop loop = new CommandLoop();
    return traced ? new Telemetry().register().addTo(loop) : loop;
  }

  /** Serves on a port, which it prints, and runs commands until the input ends. */
  static void serve(ServerBuilder<?> builder, BindableService service, CommandLoop loop)
      throws IOException, InterruptedException {
    final FailedCalls failed = new FailedCalls();
    final Server server = builder.addService(service).intercept(failed).build().start();
    System.out.println(server.getPort());
    loop.on("failed", arguments -> new Answer().with("calls", failed.count())).run();
    if (!server.shutdown().awaitTermination(END_SECONDS, TimeUnit.SECONDS)) {
      server.shutdownNow();
    }
  }
}
