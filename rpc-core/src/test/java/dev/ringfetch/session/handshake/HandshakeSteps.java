package dev.ringfetch.session.handshake;

import dev.ringfetch.fabric.Fabric;
import dev.ringfetch.protocol.OpenResponse;
import dev.ringfetch.session.ServerSession;
import dev.ringfetch.session.SessionContext;
import dev.ringfetch.session.poller.Poller;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.random.RandomGenerator;

/** The way of tests in other packages to what a handshake shows its own package only. */
public final class HandshakeSteps {
  private HandshakeSteps() {}

  /** See {@link PolledFabric#undriven}. */
  public static PolledFabric undriven(Fabric fabric, Poller poller) {
    return PolledFabric.undriven(fabric, poller);
  }

  /**
   * A server's handshake in a time of its own.
   *
   * @param timer takes a task and its delay, and gives what cancels it.
   */
  public static ServerHandshake server(
      List<PolledFabric> fabrics,
      SessionContext context,
      Function<String, ServerSession.Acceptor> acceptors,
      ControlStream<OpenResponse> control,
      ServerHandshake.Listener listener,
      BiFunction<Runnable, Long, Runnable> timer,
      RandomGenerator random) {
    return new ServerHandshake(
        new HandshakeContext(fabrics, List.of("method"), context, timer::apply, random),
        acceptors,
        control,
        listener);
  }
}
