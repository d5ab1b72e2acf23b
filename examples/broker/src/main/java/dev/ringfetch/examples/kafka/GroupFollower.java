package dev.ringfetch.examples.kafka;

import dev.ringfetch.index.client.IndexException;
import dev.ringfetch.index.client.TopicCommits;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.Timer;

/**
 * The group's side of a consumer: takes and gives up partitions as the group assigns them, tells
 * the listener, and commits offsets. Used by the consumer's thread.
 */
final class GroupFollower {
  private static final Logger LOGGER = System.getLogger(RingConsumer.class.getName());

  private final TopicCommits store;
  private final String group;
  private final String clientId;
  private final GroupMember.Times times;
  private final Duration apiTimeout;
  private final long autoCommitNs; // 0: off
  private final GroupCommits commits;
  private final AssignedPartitions<?, ?> partitions;
  private final TopicSizes sizes;
  private final Runnable onChange;
  private ConsumerRebalanceListener listener = RestOfConsumer.NO_LISTENER;
  private GroupMember member; // null: the application assigns partitions
  private long committedNs = System.nanoTime();

  /**
   * Creates the side of a consumer that is no member yet.
   *
   * @param onChange called when the state of the group has changed.
   */
  GroupFollower(
      Settings settings,
      TopicCommits store,
      AssignedPartitions<?, ?> partitions,
      TopicSizes sizes,
      Runnable onChange) {
    this.store = store;
    this.partitions = partitions;
    this.sizes = sizes;
    this.onChange = onChange;
    group = settings.getString(ConsumerConfig.GROUP_ID_CONFIG);
    final String id = settings.getString(ConsumerConfig.CLIENT_ID_CONFIG);
    clientId = id.isEmpty() ? "consumer" : id;
    times =
        new GroupMember.Times(
            settings.duration(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG),
            settings.duration(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG),
            settings.duration(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG));
    apiTimeout = settings.duration(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG);
    autoCommitNs =
        settings.getBoolean(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG)
            ? settings.duration(ConsumerConfig.AUTO_COMMIT_INTERVAL_MS_CONFIG).toNanos()
            : 0;
    commits = new GroupCommits(store, group);
  }

  /** Becomes a member that subscribes to topics; the next {@link #follow} joins. */
  void subscribe(Set<String> topics) {
    member = new GroupMember(store.index(), group, clientId, topics, times, sizes, onChange);
  }

  /** Sets the listener of assignments. */
  void listener(ConsumerRebalanceListener called) {
    listener = called;
  }

  /** Ends the membership, if there is one. */
  void leave() {
    leave(true, Time.SYSTEM.timer(apiTimeout));
  }

  private void leave(boolean leaving, Timer timer) {
    if (member != null) {
      try {
        revoke(left(timer));
      } finally { // a listener may throw, and a commit may be interrupted
        member.close(leaving, left(timer));
        member = null;
      }
    }
  }

  /** Does what the group asks for. */
  void follow() {
    GroupMember.Step step = member == null ? GroupMember.Step.NONE : nextStep();
    while (step != GroupMember.Step.NONE) {
      switch (step) {
        case REVOKE -> {
          try {
            revoke(apiTimeout);
          } finally {
            member.given();
          }
        }
        case LOSE -> {
          final Set<TopicPartition> lost = partitions.all();
          partitions.set(Set.of());
          if (!lost.isEmpty()) {
            listener.onPartitionsLost(lost);
          }
        }
        case ASSIGN -> {
          partitions.set(member.assigned());
          listener.onPartitionsAssigned(member.assigned());
        }
        case NONE -> throw new AssertionError(step);
      }
      step = nextStep();
    }
  }

  private GroupMember.Step nextStep() {
    try {
      return member.next();
    } catch (IndexException | TimeoutException e) {
      final RuntimeException failure = Failures.of(e);
      if (failure instanceof TimeoutException) { // a leader fails over: the next look goes on
        LOGGER.log(Level.DEBUG, "group " + group, e);
        return GroupMember.Step.NONE;
      }
      throw failure;
    }
  }

  /** Commits, tells the listener, and forgets the partitions. */
  private void revoke(Duration timeout) {
    try {
      commitAtEnd(timeout);
      final Set<TopicPartition> revoked = partitions.all();
      if (!revoked.isEmpty()) {
        listener.onPartitionsRevoked(revoked);
      }
    } finally {
      partitions.set(Set.of());
    }
  }

  /** Commits the positions, if it does so by itself: partitions are given up. */
  void commitAtEnd() {
    commitAtEnd(apiTimeout);
  }

  private void commitAtEnd(Duration timeout) {
    if (autoCommitNs > 0 && !partitions.all().isEmpty()) {
      try {
        commits.commit(generation(), partitions.positions(), timeout);
      } catch (CommitFailedException | TimeoutException e) { // records come again
        LOGGER.log(Level.WARNING, "the last offsets of group {0} are not committed: {1}", group, e);
      }
    }
  }

  /** Commits the positions, if it does so by itself and it is time; calls back. */
  void commitInTime() {
    commits.callBack();
    if (autoCommitNs > 0
        && System.nanoTime() - committedNs > autoCommitNs
        && (member == null || member.generation() >= 0)) {
      committedNs = System.nanoTime();
      commits.commitLater(
          generation(),
          partitions.positions(),
          (offsets, failure) -> {
            if (failure != null) {
              LOGGER.log(Level.WARNING, "offsets of group {0}: {1}", group, failure);
            }
          });
    }
  }

  /** Commits, and waits for it. */
  void commit(Map<TopicPartition, OffsetAndMetadata> offsets, Duration timeout) {
    commits.commit(generation(), offsets, timeout);
    commits.callBack(); // of those before
  }

  /** Commits some time. */
  void commitLater(Map<TopicPartition, OffsetAndMetadata> offsets, OffsetCommitCallback callback) {
    commits.callBack();
    commits.commitLater(generation(), offsets, callback);
  }

  /** The commits of partitions; those without one are missing. */
  Map<TopicPartition, OffsetAndMetadata> committed(Set<TopicPartition> places, Duration timeout) {
    return commits.committed(places, timeout);
  }

  private long generation() {
    if (member == null) {
      return GroupCommits.UNFENCED;
    }
    if (member.generation() < 0) {
      throw new CommitFailedException("the consumer has no partitions of the group now");
    }
    return member.generation();
  }

  @SuppressWarnings("removal") // the class that replaces it is internal
  ConsumerGroupMetadata metadata() {
    return member == null
        ? new ConsumerGroupMetadata(group)
        : new ConsumerGroupMetadata(
            group, (int) member.generation(), member.id(), Optional.empty());
  }

  private static Duration left(Timer timer) {
    timer.update();
    return Duration.ofMillis(timer.remainingMs());
  }

  /** Ends it after a last commit, if it does so by itself, and those that were begun. */
  void close(boolean leaving, Duration timeout) {
    final Timer timer = Time.SYSTEM.timer(timeout);
    try {
      if (member == null) {
        commitAtEnd(left(timer));
      } else {
        leave(leaving, timer);
      }
    } finally {
      commits.close(left(timer));
    }
  }
}
