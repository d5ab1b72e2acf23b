package dev.ringfetch.index.outcome;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Iterator;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The numbered clients of a server with their leases: opens, renews and closes them, and records
 * that in a log if there is one.
 *
 * <p>A lease begins anew with each use, and with a recovery. A client whose lease is over is closed
 * when it calls again, or when other clients call; there is no thread for this.
 *
 * <p>Safe for use by many threads; finding a client takes no lock.
 */
public final class ClientRegistry {
  /** Default limit of clients. */
  public static final int LIMIT_DEFAULT = 1 << 16;

  /** Default term of a lease: a client may be idle for this time. */
  public static final Duration TERM_DEFAULT = Duration.ofMinutes(30);

  /** Returned by {@link #open}: there are too many clients. */
  public static final int TOO_MANY = -1;

  /** Returned by {@link #open}: there is no room in the log. */
  public static final int LOG_FULL = -2;

  /** Number of clients that one search for ended leases checks. */
  private static final int SWEEP = 1_000;

  private final LongSupplier clock;
  private final long termNs;
  private final int limit;
  private final ConcurrentHashMap<Long, NumberedClient> clients = new ConcurrentHashMap<>();
  private final SecureRandom random = new SecureRandom();

  /** Protects the order of the log, too. */
  private final ReentrantLock lock = new ReentrantLock();

  @GuardedBy("lock")
  private final ArrayDeque<NumberedClient> order = new ArrayDeque<>();

  @GuardedBy("lock")
  private @Nullable ClientLog log; // null before there is one

  private volatile long sweptNs;

  /** Creates the registry of a server, with the defaults. */
  public ClientRegistry() {
    this(TERM_DEFAULT, LIMIT_DEFAULT, System::nanoTime);
  }

  /**
   * Creates a registry.
   *
   * @param term of a lease
   * @param limit of the clients
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

  /** Limit of the clients. */
  public int limit() {
    return limit;
  }

  /** Number of clients. */
  public int count() {
    return clients.size();
  }

  /**
   * Continues with a log that already has these clients; each gets a full term. Called before any
   * other use.
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
   * Renews a client, or opens a new one if it is unknown.
   *
   * @param known number of a client; 0 for a new one
   * @param opened receives the client when it is recorded, or the log has failed; on any thread
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

  @GuardedBy("lock")
  private void add(NumberedClient client) {
    client.begin(clock.getAsLong());
    clients.put(client.id(), client);
    order.add(client);
  }

  /** The client with a number, whose lease begins anew; null if there is none. */
  public @Nullable NumberedClient find(long id) {
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

  @GuardedBy("lock")
  private void end(NumberedClient client) {
    if (client.close() && log != null) {
      log.closed(client.id());
    }
  }

  /**
   * Checks the next clients, and closes those whose leases are over.
   *
   * @param most number of clients to check
   */
  @GuardedBy("lock")
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
   * A walk over the clients, which may be opened and closed meanwhile. It includes each client that
   * stays during the walk, also those whose record was appended before.
   */
  public Iterator<NumberedClient> walk() {
    lock.lock(); // an opening holds it until the client is in the map
    try {
      return clients.values().iterator(); // of a concurrent map: it misses none that stays
    } finally {
      lock.unlock();
    }
  }
}
