package dev.ringfetch.index.client;

import dev.ringfetch.rpc.Experimental;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * One holding of an {@link IndexLock}: renews the lock's entry until it is closed, and tells its
 * holder if it is lost.
 *
 * <p>It counts as lost after nine tenths of the time to live since the begin of the last renewal
 * that was answered, so before the server frees the lock; or as soon as the entry is found removed,
 * or written by another client. A host whose clock is set forward frees it earlier. Safe for use by
 * many threads.
 */
@Experimental
public final class LockHold implements AutoCloseable {
  private enum State {
    HELD,
    LOST,
    RELEASED
  }

  /** Renewals of a time to live, if each is answered. */
  private static final int RENEWALS = 3;

  /** Pauses after a failed renewal, in a time to live; also the part of it that is not used. */
  private static final int PARTS = 10;

  /** A renewal that was under way at the release can come between its look and its removal. */
  private static final int REMOVALS = 3;

  private final HashIndex<String, String> entries;
  private final AsyncIndex<String, String> renewals;
  private final ClientThreads threads;
  private final String name;
  private final String token;
  private final Duration ttl;
  private final long fence;
  private final CompletableFuture<Void> lost = new CompletableFuture<>();
  private State state = State.HELD; // guarded by this
  private long version; // guarded by this
  private long endNs; // guarded by this

  private LockHold(
      HashIndex<String, String> entries,
      IndexEntry<String, String> entry,
      Duration ttl,
      long sentNs) {
    this.entries = entries;
    this.renewals = entries.deadline(ttl.dividedBy(RENEWALS)).async();
    this.threads = entries.view().calls().threads();
    this.name = entry.key();
    this.token = entry.value();
    this.ttl = ttl;
    this.fence = entry.version();
    this.version = fence;
    this.endNs = end(sentNs);
  }

  /**
   * Begins to renew an entry.
   *
   * @param sentNs time before the entry was written
   */
  static LockHold begin(
      HashIndex<String, String> entries,
      IndexEntry<String, String> entry,
      Duration ttl,
      long sentNs) {
    final LockHold hold = new LockHold(entries, entry, ttl, sentNs);
    hold.renewAfter(sentNs);
    hold.lookAtTheEnd();
    return hold;
  }

  private long ttlNs() {
    return ttl.toNanos();
  }

  private long end(long sentNs) {
    return sentNs + ttlNs() - ttlNs() / PARTS;
  }

  /**
   * The fencing number: that of a later holder is larger, as long as the index of locks exists.
   * Whatever is written under the lock keeps the largest one that it has seen, and refuses smaller
   * ones.
   */
  public long fence() {
    return fence;
  }

  /** Whether the lock is held at this moment. */
  public synchronized boolean isHeld() {
    return state == State.HELD && threads.nowNs() - endNs < 0;
  }

  /**
   * Completes when the lock is lost, on the {@linkplain IndexClientBuilder#executor executor} of
   * the client; never if it is closed before.
   */
  public CompletionStage<Void> lost() {
    return lost.minimalCompletionStage();
  }

  /** Loses the lock at its end; looks again at the next end if it was renewed meanwhile. */
  private void lookAtTheEnd() {
    final long leftNs;
    synchronized (this) {
      if (state != State.HELD) {
        return;
      }
      leftNs = endNs - threads.nowNs();
    }
    if (leftNs <= 0) {
      lose();
    } else {
      threads.after(leftNs, this::lookAtTheEnd);
    }
  }

  private void lose() {
    synchronized (this) {
      if (state != State.HELD) {
        return;
      }
      state = State.LOST;
    }
    threads.run(() -> lost.complete(null));
  }

  private void renew() {
    if (!isHeld()) {
      return; // the look at the end tells
    }
    final long expected;
    synchronized (this) {
      expected = version;
    }
    final long sentNs = threads.nowNs();
    final var unused =
        renewals
            .touch(name, expected, ttl)
            .whenComplete((touched, failure) -> renewed(sentNs, touched, failure));
  }

  private void renewed(long sentNs, OptionalLong touched, Throwable failure) {
    if (failure != null) {
      renewLater();
    } else if (touched.isPresent()) {
      synchronized (this) {
        version = touched.getAsLong();
        endNs = end(sentNs);
      }
      renewAfter(sentNs);
    } else {
      final var unused = renewals.getEntry(name).whenComplete(this::looked);
    }
  }

  /** Continues with what is there in place of the expected entry. */
  private void looked(Optional<IndexEntry<String, String>> found, Throwable failure) {
    if (failure != null) {
      renewLater();
    } else if (found.isPresent() && found.get().value().equals(token)) {
      synchronized (this) {
        version = found.get().version(); // of a renewal whose answer was lost
      }
      renew();
    } else {
      lose();
    }
  }

  /** Renews when it is time after a renewal that was sent then. */
  private void renewAfter(long sentNs) {
    threads.after(Math.max(0, sentNs + ttlNs() / RENEWALS - threads.nowNs()), this::renew);
  }

  private void renewLater() {
    threads.after(ttlNs() / PARTS, this::renew);
  }

  /**
   * Releases the lock, and waits until the server has removed its entry. Without effect if the lock
   * was lost. Idempotent.
   *
   * @throws IndexException if the server is not reached; the lock is free after its time to live.
   */
  @Override
  public void close() {
    long expected;
    synchronized (this) {
      if (state != State.HELD) {
        return;
      }
      state = State.RELEASED;
      expected = version;
    }
    for (int left = REMOVALS; left > 0 && !entries.removeIf(name, expected); left--) {
      final Optional<IndexEntry<String, String>> found = entries.getEntry(name);
      if (found.isEmpty() || !found.get().value().equals(token)) {
        return;
      }
      expected = found.get().version();
    }
  }

  @Override
  public String toString() {
    return "LockHold[" + name + " fence=" + Long.toUnsignedString(fence) + "]";
  }
}
