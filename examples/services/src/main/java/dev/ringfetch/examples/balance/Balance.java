package dev.ringfetch.examples.balance;

import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.index.AtLeast;
import dev.ringfetch.index.OptionErrors;
import dev.ringfetch.rpc.BackendTransport;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The demo of a balanced channel: three servers get calls in turn, each over its ring. One is
 * killed and one added under load. Exit code 0 only if every call was answered.
 */
@Command(
    name = "balance",
    mixinStandardHelpOptions = true,
    description = "Calls several servers in turn over rings, while they come and go.")
public final class Balance implements Callable<Integer> {
  private static final int SERVERS = 3;
  private static final int CALLERS = 4;
  private static final int PHASES = 3;
  private static final int TABLES = 4; // in each phase
  private static final int END_SECONDS = 10;
  private static final int LOOK_MS = 20;
  private static final int MAX_LOOKS = 3000; // for a minute

  private final PrintStream out = System.out;
  private final List<ChildProcess> servers = new ArrayList<>();
  private final List<Integer> ports = new ArrayList<>();
  private final Addresses addresses = new Addresses().register();

  @Option(
      names = "--seconds",
      paramLabel = "SECONDS",
      converter = AtLeast.One.class,
      description = "How long calls are made. Default: 6.")
  private Integer seconds = 6;

  /** Runs it; ends the JVM. */
  public static void main(String[] args) {
    System.exit(OptionErrors.printedFor(new CommandLine(new Balance())).execute(args));
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    try {
      for (int i = 0; i < SERVERS; i++) {
        add();
      }
      final RingChannel channel =
          RingChannelBuilder.forTarget(Addresses.TARGET)
              .usePlaintext()
              .defaultLoadBalancingPolicy("round_robin")
              .build();
      try {
        return run(channel);
      } finally {
        channel.shutdownNow();
        final boolean unused = channel.awaitTermination(END_SECONDS, TimeUnit.SECONDS);
      }
    } finally {
      servers.forEach(ChildProcess::close);
    }
  }

  private void add() throws IOException {
    final ChildProcess server = ChildProcess.start(List.of(), BalanceServer.class, List.of());
    servers.add(server);
    ports.add(Integer.parseInt(server.readLine()));
    addresses.set(ports);
  }

  private int run(RingChannel channel) throws IOException, InterruptedException {
    final Load load = new Load(channel, CALLERS);
    load.start();
    awaitRings(channel);
    show("three servers", channel, load);
    servers.remove(0).kill(); // its address stays: the policy finds out by itself
    final int killed = ports.remove(0);
    show("port " + killed + " was killed", channel, load);
    add();
    awaitRings(channel);
    show("port " + ports.get(ports.size() - 1) + " was added", channel, load);
    load.stop();
    out.printf(
        "%d calls answered, %d of them repeated because their server had died, %d lost%n",
        load.answered(), load.repeated(), load.unanswered());
    final long onRings = rings(channel);
    if (onRings < SERVERS) {
      out.println("only " + onRings + " servers have a ring");
    }
    if (load.failure() != null) {
      out.println(load.failure());
    }
    return load.unanswered() == 0 && onRings >= SERVERS
        ? CommandLine.ExitCode.OK
        : CommandLine.ExitCode.SOFTWARE;
  }

  /** Waits until each server has a ring: on a busy machine they take a while to start. */
  private static void awaitRings(RingChannel channel) throws InterruptedException {
    for (int i = 0; i < MAX_LOOKS && rings(channel) < SERVERS; i++) {
      TimeUnit.MILLISECONDS.sleep(LOOK_MS);
    }
  }

  private static long rings(RingChannel channel) {
    return channel.transports().stream().filter(backend -> backend.transport().isRing()).count();
  }

  private void show(String title, RingChannel channel, Load load) throws InterruptedException {
    for (int i = 0; i < TABLES; i++) {
      TimeUnit.MILLISECONDS.sleep(TimeUnit.SECONDS.toMillis(seconds) / (PHASES * TABLES));
      out.printf("%s; %d calls, %d repeated%n", title, load.answered(), load.repeated());
      out.printf(
          "  %-28s %-18s %-9s %12s %10s  %s%n",
          "address", "state", "transport", "ring calls", "gRPC calls", "reason");
      for (final BackendTransport backend : channel.transports()) {
        out.printf(
            "  %-28s %-18s %-9s %12d %10d  %s%n",
            backend.address(),
            backend.state(),
            backend.transport().name(),
            backend.ringCalls(),
            backend.grpcCalls(),
            backend.transport().reason());
      }
      out.println();
    }
  }
}
