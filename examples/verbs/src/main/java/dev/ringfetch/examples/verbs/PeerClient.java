package dev.ringfetch.examples.verbs;

import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.rdma.natives.NativeLibrary;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** The client process of a {@link ProcessPair}: runs its commands. */
public abstract class PeerClient implements Callable<Integer> {
  @Option(names = "--address", required = true, description = "Of an RDMA device.")
  private InetAddress address;

  @Override
  public final Integer call() throws Exception {
    NativeLibrary.require();
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
  protected abstract void connect(InetSocketAddress server) throws Exception;

  /** Makes calls for some time; returns figures, work requests and torn answers. */
  protected abstract Answer round(long millis);

  /** Called after the last command. */
  protected abstract void end() throws Exception;
}
