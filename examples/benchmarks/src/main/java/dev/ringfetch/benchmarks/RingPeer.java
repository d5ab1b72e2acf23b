package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.process.ChildProcess;
import java.io.IOException;
import java.util.List;

/** A session of the ring by itself, as a peer. */
record RingPeer(ChildProcess client, ChildProcess server) implements PeerContender {
  /** Starts both processes, and carries what they say to each other until they have a session. */
  static RingPeer start(List<String> flags) throws IOException {
    final ChildProcess server = ChildProcess.start(flags, RingServerProcess.class, List.of());
    ChildProcess client = null;
    try {
      client = ChildProcess.start(flags, RingClientProcess.class, List.of());
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
  public void close() {
    try {
      client.close();
    } finally {
      server.close();
    }
  }
}
