package dev.ringfetch.examples.verbs;

import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.rdma.natives.NativeLibrary;
import java.net.InetAddress;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The server process of bare verbs. */
@Command(name = "bare-server")
final class BareServerProcess implements Callable<Integer> {
  @Option(names = "--address", required = true, description = "Of an RDMA device.")
  private InetAddress address;

  private WorkRequests before = WorkRequests.NONE;

  /** Runs the process. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new BareServerProcess()).execute(args));
  }

  @Override
  public Integer call() throws Exception {
    NativeLibrary.require();
    try (BareServer server = new BareServer(address)) {
      new CommandLoop()
          .on("port", arguments -> new Answer().with("port", server.port()))
          .on(
              "accept",
              arguments -> {
                server.accept();
                return new Answer();
              })
          .on("serve", arguments -> serve(server))
          .run();
    }
    return CommandLine.ExitCode.OK;
  }

  private Answer serve(BareServer server) {
    server.serve();
    final WorkRequests posted =
        new WorkRequests(server.writes(), 0, server.sends(), 0, server.signaled());
    final Answer answer = posted.since(before).addTo(new Answer());
    before = posted;
    return answer;
  }
}
