package dev.ringfetch.index.client;

import dev.ringfetch.rpc.Experimental;
import io.grpc.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * A lock that one holder at a time has, among all clients of a server or of a cluster: an entry of
 * the index {@value #INDEX} under the lock's name. The entry ends by itself unless its holder
 * renews it, so a lock whose holder dies is free after the {@linkplain #ttl time to live}. Also a
 * leader election: whoever holds the lock leads.
 *
 * <pre>{@code
 * Optional<LockHold> acquired = client.lock("printer").acquire(Duration.ofMinutes(1));
 * if (acquired.isPresent()) {
 *   try (LockHold hold = acquired.get()) {
 *     hold.lost().thenRun(printing::stop);
 *     printing.run(hold.fence());
 *   }
 * }
 * }</pre>
 *
 * <p>A process can be paused at any moment, and find out later that it has lost the lock. What must
 * not be done by two holders is therefore guarded by {@link LockHold#fence}, which whatever is
 * written to compares.
 *
 * <p>Locks are as durable as their index. The first lock creates that as the server's default says;
 * create it with another durability before, if locks are to outlive a server that belongs to no
 * cluster: without them a second holder may come in while the first one still has the rest of its
 * time.
 *
 * <p>Immutable; safe for use by many threads. Not reentrant: each hold is one of its own.
 */
@Experimental
public final class IndexLock {
  /** Name of the index of all locks. */
  public static final String INDEX = "locks";

  /** Default of {@link #ttl}. */
  public static final Duration TTL_DEFAULT = Duration.ofSeconds(10);

  /** The shortest time to live: ten times that in which a server notes that an entry has ended. */
  public static final Duration TTL_MIN = Duration.ofMillis(100);

  private static final long RETRY_MS = 100;

  /** Attempts before a watch, which always comes later than the next attempt of the last holder. */
  private static final int ATTEMPTS = 16;

  private final HashIndex<String, String> entries;
  private final String name;
  private final Duration ttl;
  private final String holder;

  IndexLock(HashIndex<String, String> entries, String name, Duration ttl, String holder) {
    this.entries = entries;
    this.name = name;
    this.ttl = ttl;
    this.holder = holder;
  }

  /** The lock with the defaults. */
  static IndexLock of(HashIndex<String, String> entries, String name) {
    return new IndexLock(entries, Objects.requireNonNull(name), TTL_DEFAULT, process());
  }

  /** Host and process, for people alone. */
  private static String process() {
    String host;
    try {
      host = Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
    } catch (IOException e) {
      host = "localhost";
    }
    return host + ":" + ProcessHandle.current().pid();
  }

  /**
   * The same lock with this time to live: a holder that dies has it for so long, and one that does
   * not reach the server loses it after nine tenths. Default {@link #TTL_DEFAULT}.
   *
   * @throws IllegalArgumentException if it is shorter than {@link #TTL_MIN}.
   */
  public IndexLock ttl(Duration time) {
    if (time.compareTo(TTL_MIN) < 0) {
      throw new IllegalArgumentException("ttl=" + time + " is shorter than " + TTL_MIN);
    }
    return new IndexLock(entries, name, time, holder);
  }

  /** The same lock with this name of its holders, for people. Default: host and process. */
  public IndexLock holder(String text) {
    return new IndexLock(entries, name, ttl, Objects.requireNonNull(text));
  }

  /** Name of the lock. */
  public String name() {
    return name;
  }

  /** The name of the present holder; empty if the lock is free. */
  public Optional<String> presentHolder() {
    return entries.get(name).map(token -> token.replaceFirst(" [^ ]*$", "")); // of its number
  }

  /**
   * Acquires the lock, and waits for it. Waiters are in no order.
   *
   * @param timeout how long to wait while others hold it; zero for one attempt. Calls that are
   *     under way then take up to the client's deadline longer.
   * @return empty if others held it all the time.
   * @throws IndexException if the server was not reached at the end of the time; at once if it
   *     refuses the client, and with CANCELLED if the thread is interrupted. An entry that was
   *     written without an answer then ends after the time to live.
   */
  public Optional<LockHold> acquire(Duration timeout) {
    final ClientThreads threads = entries.view().calls().threads();
    final String token = holder + " " + UUID.randomUUID();
    final long endNs = threads.nowNs() + timeout.toNanos();
    while (true) {
      try {
        Optional<LockHold> hold = attempt(token);
        for (int i = 1; i < ATTEMPTS && hold.isEmpty() && threads.nowNs() - endNs < 0; i++) {
          hold = attempt(token);
        }
        return hold.isPresent() || threads.nowNs() - endNs >= 0 ? hold : await(token, endNs);
      } catch (IndexException e) {
        if (!isTransient(e) || threads.nowNs() - endNs >= 0) {
          throw e;
        }
        pause(e);
      }
    }
  }

  /** Tries to write the entry; empty if another client has it. */
  private Optional<LockHold> attempt(String token) {
    final ClientThreads threads = entries.view().calls().threads();
    final long sentNs = threads.nowNs();
    final CompareAndSetResult<String, String> result = entries.compareAndSet(name, 0, token, ttl);
    final Optional<IndexEntry<String, String>> own =
        result.entry().filter(entry -> entry.value().equals(token));
    if (result.applied() || own.isEmpty()) {
      return own.map(entry -> LockHold.begin(entries, entry, ttl, sentNs));
    }
    // It is of an earlier attempt whose answer was lost: its time begins anew.
    final long touchedNs = threads.nowNs();
    final OptionalLong version = entries.touch(name, own.get().version(), ttl);
    return version.isEmpty()
        ? Optional.empty()
        : Optional.of(
            LockHold.begin(
                entries, new IndexEntry<>(name, token, version.getAsLong()), ttl, touchedNs));
  }

  /** Tries again after each removal of the entry; empty after the time. */
  private Optional<LockHold> await(String token, long endNs) {
    final ClientThreads threads = entries.view().calls().threads();
    try (Watch<String, String> watch = entries.watchKey(name, WatchOptions.fromNow().keysOnly())) {
      Optional<LockHold> hold = attempt(token); // it may have ended before the watch began
      long leftNs = endNs - threads.nowNs();
      while (hold.isEmpty() && leftNs > 0) {
        final Optional<IndexChange<String, String>> change = watch.next(Duration.ofNanos(leftNs));
        if (change.isPresent() && change.get().kind() != IndexChange.Kind.PUT) {
          hold = attempt(token);
        }
        leftNs = endNs - threads.nowNs();
      }
      return hold;
    }
  }

  /** Whether another attempt may succeed. */
  private static boolean isTransient(IndexException failure) {
    return switch (failure.code()) {
      case UNAVAILABLE, DEADLINE_EXCEEDED, ABORTED, NOT_FOUND, OUT_OF_RANGE, RESOURCE_EXHAUSTED ->
          true;
      case CANCELLED -> !Thread.currentThread().isInterrupted(); // by a server that ends
      default -> false;
    };
  }

  private void pause(IndexException failure) {
    try {
      TimeUnit.MILLISECONDS.sleep(RETRY_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Failures.of(
          new Subject(failure.operation(), INDEX, null),
          Status.CANCELLED.withDescription("the thread was interrupted").withCause(e),
          false);
    }
  }

  @Override
  public String toString() {
    return "IndexLock[" + name + "]";
  }
}
