package dev.ringfetch.rdma.faults;

import dev.ringfetch.counters.Counter;
import dev.ringfetch.counters.Counters;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.rdma.verbs.FaultyProvider;
import dev.ringfetch.rpc.Provided;
import dev.ringfetch.rpc.RingChannel;
import dev.ringfetch.rpc.RingChannelBuilder;
import dev.ringfetch.rpc.RingServer;
import dev.ringfetch.rpc.RingServerBuilder;
import dev.ringfetch.system.Await;
import dev.ringfetch.system.HashIndex;
import dev.ringfetch.system.Load;
import dev.ringfetch.system.SystemChild;
import io.grpc.StatusRuntimeException;
import java.io.BufferedReader;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A server or a client over verbs in a JVM of its own. It answers each line that it is told with
 * one line, and ends with its input, that is with the test's JVM.
 */
final class FaultChild {
  /** Calls by which a load is taken to be under way. */
  static final int CALLS = 200;

  private static final String LIBRARY = "ringfetch.rdma.library";
  private static final int WAIT_S = 60;

  private FaultChild() {}

  /** What starts a JVM that may lock so little memory, without the capability that lifts it. */
  static List<String> lockingAtMost(int kilobytes) {
    return SystemChild.inShell("ulimit -l " + kilobytes, "setpriv --bounding-set=-ipc_lock");
  }

  /** Starts a server. Its first line comes when it serves. */
  static SystemChild server(List<String> prefix, int port) throws IOException {
    return start(prefix, "server", port);
  }

  /** Starts a client with calls under way. Its first line comes when verbs carries them. */
  static SystemChild load(int port, int hanging) throws IOException {
    return start(List.of(), "load", port, hanging);
  }

  /** Starts a client that makes the calls it is told to make. */
  static SystemChild caller(List<String> prefix, int port) throws IOException {
    return start(prefix, "caller", port);
  }

  private static SystemChild start(List<String> prefix, Object... arguments) throws IOException {
    List<String> flags =
        new ArrayList<>(List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    String library = System.getProperty(LIBRARY);
    if (library != null) {
      flags.add("-D" + LIBRARY + "=" + library);
    }
    List<String> all = new ArrayList<>();
    for (Object argument : arguments) {
      all.add(argument.toString());
    }
    return SystemChild.start(prefix, flags, FaultChild.class, all);
  }

  static RingServerBuilder serverBuilder(FaultyProvider provider, int port) {
    return Provided.by(provider, RingServerBuilder.forPort(port)).spinTime(Duration.ZERO);
  }

  static RingChannelBuilder channelBuilder(FaultyProvider provider, int port) {
    return Provided.by(provider, RingChannelBuilder.forAddress("localhost", port).usePlaintext())
        .spinTime(Duration.ZERO);
  }

  /** Plays a role (first argument) at a port (second argument). */
  public static void main(String[] args) throws Exception {
    int port = Integer.parseInt(args[1]);
    switch (args[0]) {
      case "server" -> serve(port);
      case "load" -> runLoad(port, Integer.parseInt(args[2]));
      case "caller" -> runCalls(port);
      default -> throw new IllegalArgumentException("role=" + args[0]);
    }
    System.exit(0);
  }

  private static void serve(int port) throws IOException {
    HashIndex index = new HashIndex();
    FaultyProvider provider = new FaultyProvider();
    RingServer server = serverBuilder(provider, port).addService(index).build().start();
    System.out.println("serving");
    BufferedReader input = SystemChild.input();
    String line;
    while ((line = input.readLine()) != null) {
      switch (line) {
        case "sessions" -> System.out.println(server.sessionCount());
        case "hanging" -> System.out.println(index.hanging());
        case "cancelled" -> System.out.println(index.cancelled());
        case "fail" -> {
          provider.failQueuePair();
          System.out.println("failed");
        }
        default -> throw new IllegalArgumentException("line=" + line);
      }
    }
  }

  private static void runLoad(int port, int hanging) throws Exception {
    RingChannel channel = channelBuilder(new FaultyProvider(), port).build();
    FaultSteps.awaitVerbs("load", channel);
    Load load = new Load(channel).hang(hanging).start(1);
    long before = channel.ringCalls();
    Await.until("ring calls", WAIT_S, () -> channel.ringCalls() > before + CALLS);
    System.out.println("loaded");
    while (System.in.read() >= 0) {}
    load.close();
  }

  private static void runCalls(int port) throws IOException {
    Logged logged = new Logged();
    RingChannel channel = channelBuilder(new FaultyProvider(), port).build();
    System.out.println("ready");
    BufferedReader input = SystemChild.input();
    int number = 0;
    String line;
    while ((line = input.readLine()) != null) {
      switch (line) {
        case "call" -> System.out.println(call(channel, ++number));
        case "transport" -> System.out.println(channel.transport());
        case "ring" -> System.out.println(channel.ringCalls());
        case "grpc" -> System.out.println(channel.grpcCalls());
        case "refused" -> System.out.println(refused());
        case "logged" -> System.out.println(logged.lines());
        default -> throw new IllegalArgumentException("line=" + line);
      }
    }
  }

  /** Makes a call, and says how it ended. */
  static String call(RingChannel channel, long number) {
    GetRequest request = HashIndex.request(number);
    try {
      return HashIndex.isAnswer(request, IndexGrpc.newBlockingStub(channel).get(request))
          ? "OK"
          : "another's answer";
    } catch (StatusRuntimeException e) {
      return e.getStatus().toString();
    }
  }

  /** Attempts of this process's channels of which no session came. */
  static long refused() {
    return Counters.ofThisProcess().stream()
        .mapToLong(counters -> counters.total(Counter.CHANNEL_SESSIONS_REFUSED))
        .sum();
  }
}
