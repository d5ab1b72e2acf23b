package dev.ringfetch.index.linearizability;

import dev.ringfetch.index.direct.DirectContext;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/** Some clients on threads of their own, which do each round together. */
final class Crew implements AutoCloseable {
  private static final long ROUND_S = 120;
  private static final long LIVES_S = 400;

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

  /**
   * Creates clients that read directly and outlive their servers, and threads.
   *
   * @param context of their readers
   */
  Crew(int firstId, int size, long seed, List<Route> routes, DirectContext context) {
    clients =
        IntStream.range(firstId, firstId + size)
            .mapToObj(id -> new Client(id, seed, routes, context))
            .toList();
    threads = Executors.newFixedThreadPool(size);
  }

  /** Has each client make that many calls, all at the same time; returns what all of them did. */
  List<Operation> run(int round, int calls) throws Exception {
    return each(client -> client.run(round, calls), ROUND_S);
  }

  /** Has each client make calls to one server after the other; returns what all of them did. */
  List<Operation> outlive(BooleanSupplier ended) throws Exception {
    return each(client -> client.outlive(ended), LIVES_S);
  }

  /** What each client does. */
  private interface Work {
    List<Operation> of(Client client) throws Exception;
  }

  private List<Operation> each(Work work, long limitS) throws Exception {
    final List<Future<List<Operation>>> running = new ArrayList<>();
    for (final Client client : clients) {
      running.add(threads.submit(() -> work.of(client)));
    }
    final List<Operation> history = new ArrayList<>();
    for (final Future<List<Operation>> one : running) {
      history.addAll(one.get(limitS, TimeUnit.SECONDS));
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
