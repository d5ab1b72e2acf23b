package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.examples.verbs.WorkRequests;
import dev.ringfetch.protocol.OpenRequest;
import dev.ringfetch.protocol.OpenResponse;
import dev.ringfetch.session.ServerSession;
import dev.ringfetch.session.handshake.HandshakeContext;
import dev.ringfetch.session.handshake.PolledFabric;
import dev.ringfetch.session.handshake.ServerHandshake;
import dev.ringfetch.timer.DeadlineTimer;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** A server process with a session and nothing above it. */
@Command(name = "ring-server")
final class RingServerProcess implements Callable<Integer>, ServerHandshake.Listener {
  @Mixin private final RingEnd end = new RingEnd();

  /** Runs the process. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new RingServerProcess()).execute(args));
  }

  @Override
  public Integer call() throws Exception {
    final HandshakeSteps<OpenResponse> steps = new HandshakeSteps<>();
    final RingEcho echo = new RingEcho();
    try (end;
        PolledFabric fabric = end.open("ring-server")) {
      final ServerHandshake handshake =
          new ServerHandshake(
              new HandshakeContext(
                  List.of(fabric), List.of("echo"), end.context(), RingServerProcess::schedule),
              name -> echo,
              steps,
              this);
      Allocation.addTo(new CommandLoop())
          .on("open", arguments -> open(handshake, steps, arguments.get(0)))
          .on("posted", arguments -> WorkRequests.ofServers().addTo(new Answer()))
          .run();
    }
    return CommandLine.ExitCode.OK;
  }

  private static Runnable schedule(Runnable task, long delayNs) {
    final Future<?> future = DeadlineTimer.schedule(task, delayNs);
    return () -> future.cancel(false);
  }

  private static Answer open(
      ServerHandshake handshake, HandshakeSteps<OpenResponse> steps, String hello)
      throws Exception {
    handshake.onRequest(OpenRequest.TYPE.parse(HandshakeSteps.bytes(hello)));
    return steps.take();
  }

  @Override
  public boolean onOpening() {
    return true;
  }

  @Override
  public void onNotOpened() {}

  @Override
  public void onSession(ServerSession session) {}

  @Override
  public void onEnded(ServerSession session, String reason) {}
}
