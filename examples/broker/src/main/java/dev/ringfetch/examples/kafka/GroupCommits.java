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
    private final CompletableFuture<Void> written = new CompletableFuture<>();
    final CompletableFuture<Void> done = // when the callbacks can run
        written.whenComplete((nothing, failure) -> ended(this, failure));

    Waiting(long generation) {
      this.generation = generation;
    }

    void run() {
      try {
        write(this);
        written.complete(null);
      } catch (RuntimeException | Error e) {
        written.completeExceptionally(e);
      }
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

  private void ended(Waiting commit, Throwable failure) {
    synchronized (this) {
      open.remove(commit);
    }
    commit.called.forEach(each -> callbacks.add(() -> each.accept(failure)));
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

  /** Runs the callbacks of the commits that have ended. */
  void callBack() {
    for (Runnable next = callbacks.poll(); next != null; next = callbacks.poll()) {
      next.run();
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
    try {
      final var unused = executor.awaitTermination(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    final List<Waiting> left;
    synchronized (this) {
      last = null;
      left = List.copyOf(open);
    }
    left.forEach(
        each ->
            each.written.completeExceptionally(
                new TimeoutException(
                    "group="
                        + group
                        + " may not have these offsets: the consumer was closed within "
                        + timeout)));
    executor.shutdownNow(); // the callbacks know the reason already
    callBack();
  }
}
