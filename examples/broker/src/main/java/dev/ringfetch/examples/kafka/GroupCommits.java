package dev.ringfetch.examples.kafka;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.ringfetch.index.client.FencedException;
import dev.ringfetch.index.client.TopicCommits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * The commits of a group's offsets by one consumer, in the order of the calls. A commit of a member
 * holds only in its generation. Those that come while one is under way share the next one: of each
 * partition, it has the last offset. Callbacks run on the consumer's thread, which asks for them.
 */
final class GroupCommits {
  /** The generation of a consumer that is no member: its commits are not fenced. */
  static final long UNFENCED = -1;

  private final TopicCommits commits;
  private final String group;
  private final Queue<Runnable> callbacks = new ConcurrentLinkedQueue<>();

  // Of the consumer's thread.
  private boolean isCallingBack;
  private boolean isToldOfEnd; // a callback has heard that its commit came after the end

  @GuardedBy("this")
  private Waiting last; // that is not yet under way; null: none

  @GuardedBy("this")
  private final Set<Waiting> open = new LinkedHashSet<>(); // that have not ended

  private final ExecutorService executor =
      Executors.newSingleThreadExecutor(
          task -> {
            final Thread thread = new Thread(task, "ring-consumer-commits");
            thread.setDaemon(true);
            return thread;
          });

  /** A commit before its end. */
  private final class Waiting {
    final long generation;
    final Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
    final List<Consumer<Throwable>> called = new ArrayList<>();
    final CompletableFuture<Void> done = new CompletableFuture<>(); // when the callbacks can run

    Waiting(long generation) {
      this.generation = generation;
    }

    void run() {
      Throwable failure = null;
      try {
        write(this);
      } catch (RuntimeException | Error e) {
        failure = e;
      }
      ended(this, failure);
    }
  }

  GroupCommits(TopicCommits commits, String group) {
    this.commits = commits;
    this.group = group;
  }

  /** Commits, and waits for it and for all before it. */
  void commit(long generation, Map<TopicPartition, OffsetAndMetadata> offsets, Duration timeout) {
    try {
      begin(generation, offsets, failure -> {}).get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      throw new InterruptException(e);
    } catch (ExecutionException e) {
      throw Failures.of(e.getCause());
    } catch (java.util.concurrent.TimeoutException e) {
      throw new TimeoutException("group=" + group + " did not commit within " + timeout, e);
    }
  }

  /** Commits some time; the callback runs in a later {@link #callBack}. */
  void commitLater(
      long generation,
      Map<TopicPartition, OffsetAndMetadata> offsets,
      OffsetCommitCallback callback) {
    final var unused =
        begin(
            generation,
            offsets,
            failure -> callback.onComplete(offsets, failure == null ? null : Failures.of(failure)));
  }

  private synchronized CompletableFuture<Void> begin(
      long generation, Map<TopicPartition, OffsetAndMetadata> offsets, Consumer<Throwable> called) {
    if (executor.isShutdown()) { // a callback commits within close
      if (isToldOfEnd) { // it would do so for ever
        throw new IllegalStateException("group=" + group + ": the consumer is closed");
      }
      final KafkaException failure =
          new KafkaException(
              "group=" + group + " does not have these offsets: the consumer is closed");
      callbacks.add(
          () -> {
            isToldOfEnd = true;
            called.accept(failure);
          });
      return CompletableFuture.failedFuture(failure);
    }
    if (last == null || last.generation != generation) {
      final Waiting next = new Waiting(generation);
      last = next;
      open.add(next);
      executor.execute(next::run);
    }
    last.offsets.putAll(offsets);
    last.called.add(called);
    return last.done;
  }

  /** Ends a commit, unless it has ended. */
  private synchronized void ended(Waiting commit, Throwable failure) {
    if (open.remove(commit)) {
      commit.called.forEach(each -> callbacks.add(() -> each.accept(failure)));
      if (failure == null) {
        commit.done.complete(null);
      } else {
        commit.done.completeExceptionally(failure);
      }
    }
  }

  private void write(Waiting commit) {
    synchronized (this) {
      if (last == commit) {
        last = null;
      }
    }
    write(commit.generation, commit.offsets);
  }

  private void write(long generation, Map<TopicPartition, OffsetAndMetadata> offsets) {
    final List<Map.Entry<TopicPartition, OffsetAndMetadata>> all =
        new ArrayList<>(offsets.entrySet());
    for (int from = 0; from < all.size(); from += TopicCommits.MAX_PARTITIONS) {
      final Map<dev.ringfetch.index.client.TopicPartition, TopicCommits.Commit> part =
          new HashMap<>();
      for (final var each :
          all.subList(from, Math.min(all.size(), from + TopicCommits.MAX_PARTITIONS))) {
        part.put(
            ofIndex(each.getKey()),
            new TopicCommits.Commit(each.getValue().offset(), each.getValue().metadata()));
      }
      try {
        if (generation == UNFENCED) {
          commits.commit(group, part);
        } else {
          commits.commit(group, generation, part);
        }
      } catch (FencedException e) {
        final CommitFailedException fenced =
            new CommitFailedException(
                "the partitions may belong to another member by now: " + e.getMessage());
        fenced.initCause(e);
        throw fenced;
      }
    }
  }

  /** Runs the callbacks of the commits that have ended; the first failure comes at its end. */
  void callBack() {
    if (isCallingBack) { // a callback commits
      return;
    }
    isCallingBack = true;
    RuntimeException first = null;
    try {
      for (Runnable next = callbacks.poll(); next != null; next = callbacks.poll()) {
        try {
          next.run();
        } catch (RuntimeException e) {
          if (first == null) {
            first = e;
          } else if (first != e) {
            first.addSuppressed(e);
          }
        }
      }
    } finally {
      isCallingBack = false;
    }
    if (first != null) {
      throw first;
    }
  }

  /** The commits of partitions; those without one are missing. */
  Map<TopicPartition, OffsetAndMetadata> committed(
      Set<TopicPartition> partitions, Duration timeout) {
    final Map<String, TopicPartition> keys = new HashMap<>();
    partitions.forEach(place -> keys.put(TopicCommits.key(group, ofIndex(place)), place));
    final Map<TopicPartition, OffsetAndMetadata> found = new HashMap<>();
    try {
      commits
          .index()
          .deadline(timeout.isZero() ? Duration.ofMillis(1) : timeout)
          .getAll(keys.keySet())
          .forEach(
              (key, value) -> {
                final TopicCommits.Commit commit = TopicCommits.Commit.decoded(value);
                found.put(keys.get(key), new OffsetAndMetadata(commit.offset(), commit.metadata()));
              });
    } catch (RuntimeException e) {
      throw Failures.of(e);
    }
    return found;
  }

  private static dev.ringfetch.index.client.TopicPartition ofIndex(TopicPartition place) {
    return new dev.ringfetch.index.client.TopicPartition(place.topic(), place.partition());
  }

  /** Ends it after the commits that were begun, or this time; runs their callbacks. */
  void close(Duration timeout) {
    executor.shutdown();
    final String left = "group=" + group + " may not have these offsets: the consumer was closed";
    RuntimeException reason = new TimeoutException(left + " within " + timeout);
    try {
      final var unused = executor.awaitTermination(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      reason = new InterruptException(left + " by an interrupted thread", e); // which stays so
    }
    for (final Waiting each : open()) {
      ended(each, reason);
    }
    executor.shutdownNow(); // the callbacks know the reason already
    callBack();
  }

  private synchronized List<Waiting> open() {
    return List.copyOf(open);
  }
}
