package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.Rings;
import dev.ringfetch.examples.verbs.VerbsContender;
import dev.ringfetch.examples.verbs.VerbsRound;
import java.io.IOException;
import java.util.List;

/** The peer that calls Index.Get by stubs. */
record PairContender(Pair pair, Contender contender) implements VerbsContender {
  /** Starts both processes with such a ring; the client uses an address of this host. */
  static PairContender ring(String host, Rings rings, boolean direct, List<String> flags)
      throws IOException {
    return start(host, Contender.ring, rings, direct, rings.fabric(), flags);
  }

  /** Starts both processes without a ring; the client uses an address of this host. */
  static PairContender grpc(String host, boolean direct, List<String> flags) throws IOException {
    return start(host, Contender.grpc, new Rings(), direct, "grpc", flags);
  }

  private static PairContender start(
      String host,
      Contender contender,
      Rings rings,
      boolean direct,
      String transport,
      List<String> flags)
      throws IOException {
    final Pair pair = Pair.start(host, direct, List.of(contender), rings, flags);
    try {
      final String served = pair.ask(contender, "describe").text("transport");
      if (!served.equals(transport)) {
        throw new IllegalStateException(contender + " over " + served + ", not " + transport);
      }
      return new PairContender(pair, contender);
    } catch (RuntimeException e) {
      pair.close();
      throw e;
    }
  }

  @Override
  public VerbsRound round(int millis) {
    return VerbsRound.measure(
        () -> pair.askServer("posted"), () -> pair.ask(contender, "small", millis));
  }

  @Override
  public ChildProcess client() {
    return pair.client(contender);
  }

  @Override
  public ChildProcess server() {
    return pair.server();
  }

  @Override
  public void close() {
    pair.close();
  }
}
