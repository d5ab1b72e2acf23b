package dev.ringfetch.index.linearizability;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** Some clients on threads of their own, which do each round together. */
final class Crew implements AutoCloseable {
  private static final long ROUND_S = 120;

  private final List<Client> clients;
  private final ExecutorService threads;

  /**
   * Creates clients and threads.
   *
   * @param firstId the clients' ids begin here
   * @param size how many clients
   * @param seed of the test
   * @param routes of each client
   * @param direct whether they read directly, too
   */
  Crew(int firstId, int size, long seed, List<Route> routes, boolean direct) {
    clients =
        IntStream.range(firstId, firstId + size)
            .mapToObj(id -> new Client(id, seed, routes, direct))
            .toList();
    threads = Executors.newFixedThreadPool(size);
  }

  /** Has each client make that many calls, all at the same time; returns what all of them did. */
  List<Operation> run(int round, int calls) throws Exception {
    final List<Future<List<Operation>>> running = new ArrayList<>();
    for (final Client client : clients) {
      running.add(threads.submit(() -> client.run(round, calls)));
    }
    final List<Operation> history = new ArrayList<>();
    for (final Future<List<Operation>> one : running) {
      history.addAll(one.get(ROUND_S, TimeUnit.SECONDS));
    }
    return history;
  }

  /** Reads so far that needed no call. */
  long directReads() {
    return clients.stream().mapToLong(Client::directReads).sum();
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
