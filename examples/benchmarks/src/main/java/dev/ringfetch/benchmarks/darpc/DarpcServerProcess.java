package dev.ringfetch.benchmarks.darpc;

import com.ibm.darpc.DaRPCServerEndpoint;
import com.ibm.darpc.DaRPCServerGroup;
import com.ibm.disni.RdmaEndpointGroup;
import com.ibm.disni.RdmaServerEndpoint;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.examples.verbs.WorkRequests;
import dev.ringfetch.rdma.natives.NativeLibrary;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Callable;
import java.util.logging.Level;
import java.util.logging.Logger;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The server process of DaRPC: one polling thread, messages inline. */
@Command(name = "darpc-server")
final class DarpcServerProcess implements Callable<Integer> {
  /** Messages of 32 bytes and DaRPC's header are inline. */
  static final int INLINE = 64;

  /** Messages underway. */
  static final int QUEUE = 16;

  /** DaRPC waits without end for connections. */
  static final int CONNECT_SECONDS = 15;

  /** Of DiSNI and DaRPC, which log every step; kept, as its level would be lost with it. */
  private static final Logger LOGGER = Logger.getLogger("com.ibm");

  private static final byte RETRIES = 7; // of a queue pair, the most that there are
  private static final int NO_TIMEOUT = -1;
  private static final int CONNECTIONS = 1;

  @Option(names = "--address", required = true, description = "Of an RDMA device.")
  private InetAddress address;

  private final DarpcEcho echo = new DarpcEcho();
  private RdmaServerEndpoint<DaRPCServerEndpoint<DarpcMessage, DarpcMessage>> listener;
  private DaRPCServerEndpoint<DarpcMessage, DarpcMessage> connection;

  /** Runs the process. */
  public static void main(String[] args) {
    quiet();
    // Without DaRPC's own ways to close: its threads end with the process.
    System.exit(new CommandLine(new DarpcServerProcess()).execute(args));
  }

  /** Limits their logs to errors. */
  static void quiet() {
    LOGGER.setLevel(Level.WARNING);
  }

  /**
   * DaRPC's own connections have no retry at all: a single acknowledgement that is late, as on a
   * busy emulated machine, ends them (status 12).
   */
  static void retry(RdmaEndpointGroup<?> group) throws IOException {
    group.getConnParam().setRetry_count(RETRIES);
    group.getConnParam().setRnr_retry_count(RETRIES);
  }

  @Override
  public Integer call() throws Exception {
    NativeLibrary.require();
    final DaRPCServerGroup<DarpcMessage, DarpcMessage> group =
        DaRPCServerGroup.createServerGroup(
            echo,
            new long[] {anyProcessor()},
            NO_TIMEOUT,
            INLINE,
            true,
            QUEUE,
            QUEUE,
            QUEUE,
            CONNECTIONS);
    retry(group);
    listener = group.createServerEndpoint();
    listener.bind(new InetSocketAddress(address, 0), 1);
    new CommandLoop()
        .on("port", arguments -> new Answer().with("port", port()))
        .on("accept", arguments -> accept())
        .on("serve", arguments -> serve())
        .run();
    return CommandLine.ExitCode.OK;
  }

  /** The mask by which DaRPC leaves its thread where the system puts it. */
  private static long anyProcessor() {
    return (1L << Math.min(Long.SIZE - 1, Runtime.getRuntime().availableProcessors())) - 1;
  }

  private int port() throws Exception {
    return ((InetSocketAddress) listener.getSrcAddr()).getPort();
  }

  private Answer accept() throws InterruptedException {
    connection = TimeLimit.within("DaRPC's accept", CONNECT_SECONDS, listener::accept);
    echo.awaitEnd();
    return new Answer();
  }

  private Answer serve() throws InterruptedException {
    final long before = connection.getMessagesSent();
    echo.begin();
    echo.awaitEnd();
    // The last one answers what ended the round.
    final long answers = connection.getMessagesSent() - before - 1;
    return new WorkRequests(0, 0, answers, 0, answers).addTo(new Answer());
  }
}
