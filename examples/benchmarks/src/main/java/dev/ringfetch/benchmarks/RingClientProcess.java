package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.Latencies;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.examples.verbs.WorkRequests;
import dev.ringfetch.protocol.OpenRequest;
import dev.ringfetch.protocol.OpenResponse;
import dev.ringfetch.ring.ArenaDescriptor;
import dev.ringfetch.session.ClientSession;
import dev.ringfetch.session.handshake.ClientHandshake;
import dev.ringfetch.session.handshake.PolledFabric;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** A client process with a session and nothing above it: makes calls on command. */
@Command(name = "ring-client")
final class RingClientProcess implements Callable<Integer>, ClientHandshake.Listener {
  @Mixin private final RingEnd end = new RingEnd();

  private final Latencies latencies = new Latencies();
  private RingCalls calls;
  private String refusal;

  /** Runs the process. */
  public static void main(String[] args) {
    System.exit(new CommandLine(new RingClientProcess()).execute(args));
  }

  @Override
  public Integer call() throws Exception {
    final HandshakeSteps<OpenRequest> steps = new HandshakeSteps<>();
    try (end;
        PolledFabric fabric = end.open("ring-client")) {
      final ClientHandshake handshake =
          new ClientHandshake(
              List.of(fabric), end.context(), ArenaDescriptor.MAX_RING_LENGTH, steps, this);
      latencies
          .addTo(Allocation.addTo(new CommandLoop()))
          .on(
              "hello",
              arguments -> {
                handshake.start();
                return steps.take();
              })
          .on("connect", arguments -> connect(handshake, arguments.get(0)))
          .on("ring", this::ring)
          .on("small", arguments -> small(Integer.parseInt(arguments.get(0))))
          .run();
    }
    return CommandLine.ExitCode.OK;
  }

  private Answer connect(ClientHandshake handshake, String answer) throws Exception {
    handshake.onResponse(OpenResponse.TYPE.parse(HandshakeSteps.bytes(answer)));
    if (calls == null) {
      throw new IllegalStateException("no session: " + refusal);
    }
    return new Answer();
  }

  /** Calls: length of answers, how many at once, milliseconds. */
  private Answer ring(List<String> arguments) throws Exception {
    final int length = Integer.parseInt(arguments.get(0));
    final int inFlight = Integer.parseInt(arguments.get(1));
    final int millis = Integer.parseInt(arguments.get(2));
    final Figures figures =
        inFlight == 1 ? calls.oneByOne(length, millis) : calls.inFlight(length, inFlight, millis);
    latencies.keep(calls.latencies());
    return figures.answer();
  }

  /** Calls of the smallest size for some time, one after the other, with their work requests. */
  private Answer small(int millis) {
    return WorkRequests.with(() -> calls.oneByOne(RingMessage.REQUEST_LENGTH, millis).answer());
  }

  @Override
  public void onSession(ClientSession session, String fabric, List<String> methods) {
    calls = new RingCalls(session);
  }

  @Override
  public void onRefused(String reason) {
    refusal = reason;
  }

  @Override
  public void onUnreachable(String fabric) {
    refusal = fabric + " cannot be reached";
  }

  @Override
  public void onEnded(ClientSession session, String reason) {
    // The calls report the end.
  }
}
