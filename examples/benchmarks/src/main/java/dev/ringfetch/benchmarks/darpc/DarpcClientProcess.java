package dev.ringfetch.benchmarks.darpc;

import com.ibm.darpc.DaRPCClientEndpoint;
import com.ibm.darpc.DaRPCClientGroup;
import com.ibm.darpc.DaRPCStream;
import dev.ringfetch.examples.load.Stopwatch;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.verbs.PeerClient;
import dev.ringfetch.examples.verbs.WorkRequests;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The client process of DaRPC: the calling thread polls for its answer. */
@Command(name = "darpc-client")
final class DarpcClientProcess extends PeerClient {
  private static final int EVENT_TIMEOUT_MS = 100;
  private static final int RESOLVE_TIMEOUT_MS = 5_000;
  private static final int ANSWER_TIMEOUT_MS =
      10_000; // DaRPC takes milliseconds, whatever the unit

  private final Stopwatch stopwatch = new Stopwatch();
  private final DarpcMessage request = new DarpcMessage();
  private final DarpcMessage answer = new DarpcMessage();
  private DaRPCClientEndpoint<DarpcMessage, DarpcMessage> endpoint;
  private DaRPCStream<DarpcMessage, DarpcMessage> stream;
  private long number;

  /** Runs the process. */
  public static void main(String[] args) {
    DarpcServerProcess.quiet();
    System.exit(new CommandLine(new DarpcClientProcess()).execute(args));
  }

  @Override
  protected void connect(InetSocketAddress server) throws InterruptedException {
    endpoint =
        TimeLimit.within("DaRPC's connect", DarpcServerProcess.CONNECT_SECONDS, () -> open(server));
    call(++number);
    call(DarpcMessage.END);
  }

  private DaRPCClientEndpoint<DarpcMessage, DarpcMessage> open(InetSocketAddress server)
      throws Exception {
    final DaRPCClientGroup<DarpcMessage, DarpcMessage> group =
        DaRPCClientGroup.createClientGroup(
            new DarpcMessage.Protocol(),
            EVENT_TIMEOUT_MS,
            DarpcServerProcess.INLINE,
            DarpcServerProcess.QUEUE,
            DarpcServerProcess.QUEUE);
    DarpcServerProcess.retry(group);
    final DaRPCClientEndpoint<DarpcMessage, DarpcMessage> opened = group.createEndpoint();
    opened.connect(server, RESOLVE_TIMEOUT_MS);
    stream = opened.createStream();
    return opened;
  }

  @Override
  protected Answer round(long millis) {
    final long before = endpoint.getMessagesSent();
    final Answer figures = stopwatch.runFor(() -> call(++number), millis).answer();
    final long requests = endpoint.getMessagesSent() - before;
    call(DarpcMessage.END);
    return new WorkRequests(0, 0, requests, 0, requests).addTo(figures).with("torn", 0);
  }

  @Override
  protected void end() {
    // DaRPC's threads end with the process.
  }

  /** Makes a call; its answer is compared byte by byte. */
  private void call(long sent) {
    request.fill(sent);
    try {
      stream.request(request, answer, false).get(ANSWER_TIMEOUT_MS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) { // which is how DaRPC tells of errors
      throw new IllegalStateException("DaRPC: " + e.getMessage(), e);
    } catch (IOException | ExecutionException e) {
      throw new IllegalStateException(e);
    }
    if (!answer.holds(sent)) {
      throw new IllegalStateException("not what was asked, answer " + sent);
    }
  }
}
