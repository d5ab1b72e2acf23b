package dev.ringfetch.benchmarks.verbs;

import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.rdma.verbs.BareVerbs;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** The client process of a {@link ProcessPair}: what it does when it is asked. */
abstract class PeerClient implements Callable<Integer> {
  @Option(names = "--address", required = true, description = "Of an RDMA device.")
  private InetAddress address;

  @Override
  public final Integer call() throws Exception {
    BareVerbs.require();
    new CommandLoop()
        .on("ready", arguments -> new Answer())
        .on(
            "connect",
            arguments -> {
              connect(new InetSocketAddress(address, Integer.parseInt(arguments.get(0))));
              return new Answer();
            })
        .on("round", arguments -> round(Long.parseLong(arguments.get(0))))
        .run();
    end();
    return CommandLine.ExitCode.OK;
  }

  /** Connects to the server. */
  abstract void connect(InetSocketAddress server) throws Exception;

  /** Makes calls for some time; returns figures, work requests and torn answers. */
  abstract Answer round(long millis);

  /** Nothing more is asked for. */
  abstract void end() throws Exception;
}
