package dev.ringfetch.examples.verbs;

import dev.ringfetch.examples.load.Stopwatch;
import dev.ringfetch.examples.process.Answer;
import java.io.IOException;
import java.net.InetSocketAddress;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The client process of bare verbs. */
@Command(name = "bare-client")
final class BareClientProcess extends PeerClient {
  @Option(names = "--mode", required = true, description = "${COMPLETION-CANDIDATES}.")
  private BareMode mode;

  private final Stopwatch stopwatch = new Stopwatch();
  private BareClient client;

  /** Runs the process. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new BareClientProcess()).execute(args));
  }

  @Override
  protected void connect(InetSocketAddress server) throws IOException {
    client = new BareClient(server, mode);
  }

  @Override
  protected Answer round(long millis) {
    final WorkRequests before = posted();
    final long torn = client.torn();
    final Answer answer = stopwatch.runFor(client, millis).answer();
    final WorkRequests posted = posted().since(before);
    client.end();
    return posted.addTo(answer).with("torn", client.torn() - torn);
  }

  private WorkRequests posted() {
    return new WorkRequests(client.writes(), client.reads(), 0, 0, client.signaled());
  }

  @Override
  protected void end() throws IOException {
    if (client != null) {
      client.close();
    }
  }
}
