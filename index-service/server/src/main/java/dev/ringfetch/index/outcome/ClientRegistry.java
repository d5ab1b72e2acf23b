package dev.ringfetch.index.outcome;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * The clients of a server that have numbers, with their leases: opens, renews, closes them, and
 * records that in a log where there is one.
 *
 * <p>A lease begins anew with each use, and with a recovery. Clients whose leases are over are
 * closed when they come again, or when others come: no thread looks for them.
 *
 * <p>Safe for use by many threads; finding a client takes no lock.
 */
public final class ClientRegistry {
  /** The most clients, unless set. */
  public static final int LIMIT_DEFAULT = 1 << 16;

  /** How long a client may do nothing, unless set. */
  public static final Duration TERM_DEFAULT = Duration.ofMinutes(30);

  /** {@link #open}: there are too many clients. */
  public static final int TOO_MANY = -1;

  /** {@link #open}: there is no room in the log. */
  public static final int LOG_FULL = -2;

  /** Clients that a look for those whose leases are over looks at. */
  private static final int SWEEP = 1_000;

  /** The log has no room when the clients that there are are to be recorded. */
  public static final class LogFullException extends Exception {
    private static final long serialVersionUID = 1;

    LogFullException(int clients) {
      super("no room to record clients=" + clients);
    }
  }

  private final LongSupplier clock;
  private final long termNs;
  private final int limit;
  private final ConcurrentHashMap<Long, NumberedClient> clients = new ConcurrentHashMap<>();
  private final SecureRandom random = new SecureRandom();

  /** For all below, and the order of the log. */
  private final ReentrantLock lock = new ReentrantLock();

  private final ArrayDeque<NumberedClient> order = new ArrayDeque<>();
  private ClientLog log; // null: there is none yet
  private volatile long sweptNs;

  /** Creates the registry of a server, with the defaults. */
  public ClientRegistry() {
    this(TERM_DEFAULT, LIMIT_DEFAULT, System::nanoTime);
  }

  /**
   * Creates a registry.
   *
   * @param term of a lease
   * @param limit the most clients
   * @param clock nanoseconds that never go back
   */
  public ClientRegistry(Duration term, int limit, LongSupplier clock) {
    this.termNs = term.toNanos();
    this.limit = limit;
    this.clock = clock;
    sweptNs = clock.getAsLong();
  }

  /** Term of a lease. */
  public Duration term() {
    return Duration.ofNanos(termNs);
  }

  /** The most clients. */
  public int limit() {
    return limit;
  }

  /** Number of clients. */
  public int count() {
    return clients.size();
  }

  /**
   * Goes on with a log in which these clients are already; each has a full term. Before any other
   * use.
   */
  public void recover(ClientLog recovered, Collection<NumberedClient> known) {
    lock.lock();
    try {
      log = recovered;
      known.forEach(this::add);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Records the clients that there are in a log, and each change from now on. Waits until the
   * records are durable, or the log has failed: before any outcome of these clients may be in it.
   * Other clients are opened meanwhile.
   *
   * @throws LogFullException if there is no room for them; some may be recorded
   */
  public void record(ClientLog created) throws LogFullException {
    final List<CompletableFuture<Void>> recorded = new ArrayList<>();
    lock.lock();
    try {
      for (final NumberedClient client : clients.values()) {
        final CompletableFuture<Void> done = new CompletableFuture<>();
        recorded.add(done);
        if (!created.opened(client.id(), client.firstIncomplete(), () -> done.complete(null))) {
          throw new LogFullException(clients.size());
        }
      }
      log = created;
    } finally {
      lock.unlock();
    }
    recorded.forEach(CompletableFuture::join); // the log's thread ends each wait
  }

  /** Whether clients are recorded in a log. */
  public boolean hasLog() {
    lock.lock();
    try {
      return log != null;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Renews a client, or opens a new one if it is not known.
   *
   * @param known number of a client; 0 for a new one
   * @param opened gets the client when it is recorded, or the log has failed; on any thread
   * @return 0; {@link #TOO_MANY} or {@link #LOG_FULL} if nothing was done
   */
  public int open(long known, Consumer<NumberedClient> opened) {
    final NumberedClient renewed = find(known);
    if (renewed != null) {
      opened.accept(renewed);
      return 0;
    }
    final NumberedClient client;
    lock.lock();
    try {
      sweep(clients.size() < limit ? SWEEP : clients.size());
      if (clients.size() >= limit) {
        return TOO_MANY;
      }
      client = new NumberedClient(draw(), 1);
      add(client); // first: its writes may come as soon as the record is durable
      if (log != null) {
        if (log.opened(client.id(), 1, () -> opened.accept(client))) {
          return 0;
        }
        clients.remove(client.id());
        order.removeLast();
        return LOG_FULL;
      }
    } finally {
      lock.unlock();
    }
    opened.accept(client);
    return 0;
  }

  private long draw() {
    long id;
    do {
      id = random.nextLong() >>> 1;
    } while (id == 0 || clients.containsKey(id));
    return id;
  }

  private void add(NumberedClient client) {
    client.begin(clock.getAsLong());
    clients.put(client.id(), client);
    order.add(client);
  }

  /** The client of a number, whose lease begins anew; null if there is none any more. */
  public NumberedClient find(long id) {
    final NumberedClient client = clients.get(id);
    final long nowNs = clock.getAsLong();
    if (nowNs - sweptNs > termNs / SWEEP && lock.tryLock()) {
      try {
        sweep(SWEEP);
      } finally {
        lock.unlock();
      }
    }
    if (client != null && !client.renew(nowNs, termNs)) {
      close(id);
      return null;
    }
    return client;
  }

  /** Closes a client; returns whether there was one. */
  public boolean close(long id) {
    lock.lock();
    try {
      final NumberedClient client = clients.remove(id);
      if (client == null) {
        return false;
      }
      end(client);
      return true;
    } finally {
      lock.unlock();
    }
  }

  private void end(NumberedClient client) {
    if (client.close() && log != null) {
      log.closed(client.id());
    }
  }

  /** Looks at the next so many clients, and closes those whose leases are over. */
  private void sweep(int most) {
    final long nowNs = clock.getAsLong();
    sweptNs = nowNs;
    for (int left = Math.min(most, order.size()); left > 0; left--) {
      final NumberedClient client = order.remove();
      if (clients.get(client.id()) != client) {
        continue; // closed
      }
      if (client.isOver(nowNs, termNs)) {
        clients.remove(client.id());
        end(client);
      } else {
        order.add(client);
      }
    }
  }

  /**
   * A walk over the clients, which may come and go meanwhile: has each that is there throughout,
   * those included whose record was appended before.
   */
  public Iterator<NumberedClient> walk() {
    lock.lock(); // which a client's opening holds until it is there
    try {
      return clients.values().iterator(); // of a concurrent map: it misses none that stays
    } finally {
      lock.unlock();
    }
  }
}
