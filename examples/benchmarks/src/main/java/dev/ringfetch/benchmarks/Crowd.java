package dev.ringfetch.benchmarks;

import dev.ringfetch.examples.load.Connection;
import dev.ringfetch.examples.load.Figures;
import dev.ringfetch.examples.load.Side;
import dev.ringfetch.examples.process.ChildProcess;
import dev.ringfetch.examples.process.Rings;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Several client processes of a server, which make calls at the same time. */
final class Crowd implements AutoCloseable {
  private final List<ChildProcess> clients = new ArrayList<>();
  private final ExecutorService askers;

  private Crowd(int count) {
    this.askers = Executors.newFixedThreadPool(count);
  }

  /**
   * Starts client processes of a server, each with a channel of its own and direct executors, and
   * has each make its first call.
   *
   * @param side kind of the channels.
   * @param count how many.
   */
  static Crowd start(long port, Side side, int count, Rings rings) throws IOException {
    final Crowd crowd = new Crowd(count);
    try {
      for (int i = 0; i < count; i++) {
        final ChildProcess client =
            ChildProcess.start(
                List.of(),
                BenchClient.class,
                Connection.arguments("localhost:" + port, side, true, rings));
        crowd.clients.add(client);
        client.ask("connect");
      }
      return crowd;
    } catch (IOException | RuntimeException e) {
      crowd.close();
      throw e;
    }
  }

  /** The first of them. */
  List<ChildProcess> clients(int count) {
    return clients.subList(0, count);
  }

  /** Pins each to the cores of clients. */
  void pin(Pinning pinning) throws IOException {
    for (final ChildProcess client : clients) {
      pinning.pinClient(client);
    }
  }

  /** Warms each up alone: all at once, their compilers would get too little processor time. */
  void warmUp(int payload, int inFlight, int millis) {
    for (final ChildProcess client : clients) {
      final Figures unused = Figures.parse(client.ask("async", payload, inFlight, millis));
    }
  }

  /**
   * Makes the first of them issue calls by asynchronous stub, all at the same time.
   *
   * @param active how many of them; the others rest.
   * @param inFlight calls that each has on its way.
   * @return the result of each.
   */
  List<Figures> run(int active, int payload, int inFlight, int millis) {
    final List<CompletableFuture<Figures>> rounds = new ArrayList<>();
    for (final ChildProcess client : clients(active)) {
      rounds.add(
          CompletableFuture.supplyAsync(
              () -> Figures.parse(client.ask("async", payload, inFlight, millis)), askers));
    }
    return rounds.stream().map(CompletableFuture::join).toList();
  }

  @Override
  public void close() {
    clients.forEach(ChildProcess::close);
    askers.shutdown();
  }
}
