package dev.ringfetch.benchmarks.verbs;

import dev.ringfetch.examples.load.Stopwatch;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.rdma.verbs.BareClient;
import dev.ringfetch.rdma.verbs.BareMode;
import dev.ringfetch.rdma.verbs.BareVerbs;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The client process of bare verbs. */
@Command(name = "bare-client")
final class BareClientProcess implements Callable<Integer> {
  @Option(names = "--address", required = true, description = "Of an RDMA device.")
  private InetAddress address;

  @Option(names = "--mode", required = true, description = "${COMPLETION-CANDIDATES}.")
  private BareMode mode;

  private final Stopwatch stopwatch = new Stopwatch();
  private BareClient client;

  /** Runs the process. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new BareClientProcess()).execute(args));
  }

  @Override
  public Integer call() throws Exception {
    BareVerbs.require();
    new CommandLoop()
        .on("ready", arguments -> new Answer())
        .on("connect", arguments -> connect(arguments))
        .on("round", arguments -> round(Long.parseLong(arguments.get(0))))
        .run();
    if (client != null) {
      client.close();
    }
    return CommandLine.ExitCode.OK;
  }

  private Answer connect(List<String> arguments) throws Exception {
    final int port = Integer.parseInt(arguments.get(0));
    client = new BareClient(new InetSocketAddress(address, port), mode);
    return new Answer();
  }

  private Answer round(long millis) {
    final WorkRequests before = posted();
    final long torn = client.torn();
    final Answer answer = stopwatch.runFor(client, millis).answer();
    client.end();
    return posted().since(before).addTo(answer).with("torn", client.torn() - torn);
  }

  private WorkRequests posted() {
    return new WorkRequests(client.writes(), client.reads(), 0, 0);
  }
}
