package dev.ringfetch.examples.kafka;

import dev.ringfetch.index.client.FencedException;
import dev.ringfetch.index.client.TopicCommits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * The commits of a group's offsets by one consumer, in the order of the calls. A commit of a member
 * holds only in its generation. Callbacks run on the consumer's thread, which asks for them.
 */
final class GroupCommits implements AutoCloseable {
  /** The generation of a consumer that is no member: its commits are not fenced. */
  static final long UNFENCED = -1;

  private final TopicCommits commits;
  private final String group;
  private final Queue<Runnable> callbacks = new ConcurrentLinkedQueue<>();
  private final ExecutorService executor =
      Executors.newSingleThreadExecutor(
          task -> {
            final Thread thread = new Thread(task, "ring-consumer-commits");
            thread.setDaemon(true);
            return thread;
          });

  GroupCommits(TopicCommits commits, String group) {
    this.commits = commits;
    this.group = group;
  }

  /** Commits, and waits for it and for all before it. */
  void commit(long generation, Map<TopicPartition, OffsetAndMetadata> offsets, Duration timeout) {
    try {
      begin(generation, offsets).get(timeout.toMillis(), TimeUnit.MILLISECONDS);
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
        begin(generation, offsets)
            .whenComplete(
                (nothing, failure) -> {
                  final Throwable cause =
                      failure instanceof CompletionException ? failure.getCause() : failure;
                  callbacks.add(
                      () ->
                          callback.onComplete(offsets, cause == null ? null : Failures.of(cause)));
                });
  }

  private CompletableFuture<Void> begin(
      long generation, Map<TopicPartition, OffsetAndMetadata> offsets) {
    return CompletableFuture.runAsync(() -> write(generation, offsets), executor);
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
  Map<TopicPartition, OffsetAndMetadata> committed(Set<TopicPartition> partitions) {
    final Map<TopicPartition, OffsetAndMetadata> found = new HashMap<>();
    try {
      commits
          .committed(group, partitions.stream().map(GroupCommits::ofIndex).toList())
          .forEach(
              (place, commit) ->
                  found.put(
                      new TopicPartition(place.topic(), place.partition()),
                      new OffsetAndMetadata(commit.offset(), commit.metadata())));
    } catch (RuntimeException e) {
      throw Failures.of(e);
    }
    return found;
  }

  private static dev.ringfetch.index.client.TopicPartition ofIndex(TopicPartition place) {
    return new dev.ringfetch.index.client.TopicPartition(place.topic(), place.partition());
  }

  /** Ends it after the commits that were begun. */
  @Override
  public void close() {
    executor.shutdown();
  }
}
