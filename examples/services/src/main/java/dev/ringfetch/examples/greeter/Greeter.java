package dev.ringfetch.examples.greeter;

import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.index.OptionErrors;
import dev.ringfetch.rpc.RingChannel;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The demo of the two changed lines: shows which transport the calls of a changed service use. */
@Command(
    name = "greeter",
    mixinStandardHelpOptions = true,
    description = "Runs a gRPC service that was there before, with two lines changed.")
public final class Greeter implements Callable<Integer> {
  private static final String DIFFERENCE = "two-lines.diff";
  private static final int ATTEMPTS = 10_000;

  private final PrintStream out = System.out;

  @Option(names = "--name", defaultValue = "world", description = "Who is greeted.")
  private String name;

  /** Runs it; ends the JVM. */
  public static void main(String[] args) {
    System.exit(OptionErrors.printedFor(new CommandLine(new Greeter())).execute(args));
  }

  @Override
  public Integer call() throws IOException {
    out.println("What has changed in the service:");
    out.println();
    out.println(difference().indent(2));
    try (ChildProcess server = ChildProcess.start(List.of(), GreeterServer.class, List.of());
        GreeterClient client =
            new GreeterClient("localhost:" + server.readLine().replace("port ", ""))) {
      final RingChannel channel = (RingChannel) client.channel();
      // The first calls do not wait for the ring: they go over gRPC while it is set up.
      for (int i = 0; i < ATTEMPTS && !channel.transport().isRing(); i++) {
        final String unused = client.hello(name);
      }
      final long grpcCalls = channel.grpcCalls();
      out.println("What it does now, in a process of its own:");
      out.println();
      client.greet(name, out);
      out.println();
      out.println("transport: " + channel.transport().reason());
      out.println("calls before the ring was there, over gRPC: " + grpcCalls);
      out.println("calls since, over the ring: " + channel.ringCalls());
      out.println("calls since, over gRPC: " + (channel.grpcCalls() - grpcCalls));
      return channel.ringCalls() > 0 ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }
  }

  static String difference() throws IOException {
    try (InputStream in = Greeter.class.getResourceAsStream(DIFFERENCE)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
