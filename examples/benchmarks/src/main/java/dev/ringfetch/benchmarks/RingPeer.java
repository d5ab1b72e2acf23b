package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.Rings;
import dev.ringfetch.examples.verbs.VerbsContender;
import dev.ringfetch.examples.verbs.VerbsRound;
import java.io.IOException;
import java.util.List;

/** A session of the ring by itself, as a peer. */
record RingPeer(ChildProcess client, ChildProcess server) implements PeerContender, VerbsContender {
  /** Starts both processes, and carries their handshake steps until they have a session. */
  static RingPeer start(Rings rings, List<String> flags) throws IOException {
    final ChildProcess server =
        ChildProcess.start(flags, RingServerProcess.class, rings.serverArguments());
    ChildProcess client = null;
    try {
      client = ChildProcess.start(flags, RingClientProcess.class, rings.arguments());
      final String hello = HandshakeSteps.carried(client.ask("hello"));
      client.ask("connect", HandshakeSteps.carried(server.ask("open", hello)));
      return new RingPeer(client, server);
    } catch (IOException | RuntimeException e) {
      if (client != null) {
        client.close();
      }
      server.close();
      throw e;
    }
  }

  @Override
  public Figures run(Load load, int millis) {
    if (load.mode() != Mode.ring || load.hasRate()) {
      throw new IllegalArgumentException("nothing but a ring: " + load);
    }
    return Figures.parse(client.ask("ring", load.payload(), load.inFlight(), millis));
  }

  @Override
  public VerbsRound round(int millis) {
    return VerbsRound.measure(() -> server.ask("posted"), () -> client.ask("small", millis));
  }

  @Override
  public void close() {
    try {
      client.close();
    } finally {
      server.close();
    }
  }
}
