package dev.ringfetch.examples.kafka;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.Codec;
import dev.ringfetch.index.client.HashIndex;
import dev.ringfetch.index.client.IndexChange;
import dev.ringfetch.index.client.IndexEntry;
import dev.ringfetch.index.client.IndexException;
import dev.ringfetch.index.client.TopicCommits;
import dev.ringfetch.index.client.TransactionResult;
import dev.ringfetch.index.client.WatchListener;
import dev.ringfetch.index.client.WatchOptions;
import dev.ringfetch.index.client.WatchSubscription;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * The membership of one consumer in a group: joins it, renews its lease, removes members whose
 * leases have ended, and follows the state of the group.
 *
 * <p>All keys of a group begin with {@code {group}}, so one transaction changes them: {@code
 * {group}/group} is the {@link GroupState}, {@code {group}/member/ID} the lease of a member, which
 * ends by its time to live, and {@code {group}/generation} the number that fences commits. There is
 * no coordinator: each member removes others, and the last one that is ready begins the next
 * generation.
 *
 * <p>The methods of the consumer's thread are {@link #next}, {@link #given} and {@link #close}; the
 * heartbeat and the look at topics have threads of their own.
 */
final class GroupMember {
  private static final Logger LOGGER = System.getLogger(GroupMember.class.getName());
  private static final Codec<String> TEXT = Codec.string();

  /** The next duty of the consumer. */
  enum Step {
    /** It goes on with its partitions, or waits for some. */
    NONE,
    /** It commits, gives up its partitions, and calls {@link GroupMember#given}. */
    REVOKE,
    /** Others may have its partitions already: it forgets them. */
    LOSE,
    /** It begins with {@link GroupMember#assigned}. */
    ASSIGN
  }

  /** The state of this consumer in the group. */
  private enum Membership {
    OUT,
    /** It holds no partition, and waits for the next generation. */
    JOINED,
    /** It holds the partitions of a generation. */
    ASSIGNED,
    CLOSED
  }

  /**
   * The limits of a membership.
   *
   * @param session how long a lease lasts.
   * @param heartbeat between two renewals.
   * @param poll between two calls of {@link #next}, before the member leaves.
   */
  record Times(Duration session, Duration heartbeat, Duration poll) {}

  private final HashIndex<String, ByteString> index;
  private final String group;
  private final String prefix;
  private final Set<String> topics;
  private final Times times;
  private final TopicSizes sizes;
  private final Runnable onChange;
  private final ScheduledExecutorService heartbeats;

  // Of the consumer's thread.
  private Membership membership = Membership.OUT;
  private long generation = -1; // of the partitions that it holds; -1: none
  private List<TopicPartition> assigned = List.of();
  private boolean isBeating;

  private volatile String id = ""; // empty: no member
  private volatile long polledNs = System.nanoTime();

  @GuardedBy("this")
  private GroupState seen = GroupState.NONE;

  @GuardedBy("this")
  private long seenVersion;

  // Of the heartbeat.
  private String left = ""; // id of a member that it has taken out of the group
  private volatile WatchSubscription<String, ByteString> watch; // null: none
  private volatile boolean watchEnded;

  /**
   * Creates the membership; the first {@link #next} joins.
   *
   * @param index of commits and groups.
   * @param onChange called when the state of the group has changed.
   */
  GroupMember(
      HashIndex<String, ByteString> index,
      String group,
      String clientId,
      Set<String> topics,
      Times times,
      TopicSizes sizes,
      Runnable onChange) {
    this.index = index.deadline(times.session()); // a later heartbeat would be in vain
    this.group = group;
    this.prefix = clientId.replaceAll("[^\\w.-]", "_") + "-";
    this.topics = topics;
    this.times = times;
    this.sizes = sizes;
    this.onChange = onChange;
    heartbeats =
        Executors.newScheduledThreadPool(
            2, // a list of topics may take longer than a lease
            task -> {
              final Thread thread = new Thread(task, "heartbeat-" + group);
              thread.setDaemon(true);
              return thread;
            });
  }

  private String stateKey() {
    return "{" + group + "}/group";
  }

  private String leaseKey(String member) {
    return "{" + group + "}/member/" + member;
  }

  /** Id of the member; empty if it is none now. */
  String id() {
    return id;
  }

  /** The generation whose partitions it holds; -1: it holds none. */
  long generation() {
    return generation;
  }

  /** The partitions of the generation. */
  List<TopicPartition> assigned() {
    return assigned;
  }

  /** The next duty of the consumer. Called with each poll: it joins, and shows that it polls. */
  Step next() {
    polledNs = System.nanoTime();
    return switch (membership) {
      case OUT -> {
        join();
        yield nextOfJoined();
      }
      case JOINED -> nextOfJoined();
      case ASSIGNED -> nextOfAssigned();
      case CLOSED -> throw new IllegalStateException("the consumer has left group=" + group);
    };
  }

  private void join() {
    if (id.isEmpty()) { // otherwise the answer of the last attempt was lost
      id = prefix + UUID.randomUUID();
    }
    final var unused =
        change(
            state -> state.joined(id, topics, sizes::listed),
            Map.of(leaseKey(id), times.session()),
            AssignedPartitions.READ_LIMIT);
    membership = Membership.JOINED;
    if (!isBeating) {
      isBeating = true;
      beat();
    }
  }

  private void beat() {
    final long periodNs = times.heartbeat().toNanos();
    for (final Runnable task : List.<Runnable>of(this::heartbeat, this::followTopics)) {
      final var unused = heartbeats.scheduleWithFixedDelay(task, 0, periodNs, TimeUnit.NANOSECONDS);
    }
  }

  private Step nextOfJoined() {
    GroupState state = seen();
    if (!state.members().containsKey(id)) { // removed before it had any partition
      id = "";
      membership = Membership.OUT;
      return Step.NONE;
    }
    if (!state.members().get(id).ready()) {
      state =
          change(each -> each.ready(id, sizes::listed), Map.of(), AssignedPartitions.READ_LIMIT);
    }
    if (state.phase() != GroupState.Phase.STABLE || !state.members().containsKey(id)) {
      return Step.NONE;
    }
    membership = Membership.ASSIGNED;
    generation = state.generation();
    assigned = state.assignment().getOrDefault(id, List.of());
    return Step.ASSIGN;
  }

  private Step nextOfAssigned() {
    final GroupState state = seen();
    final GroupState.Member self = state.members().get(id);
    if (self == null || state.generation() != generation) {
      id = "";
      membership = Membership.OUT;
      forget();
      return Step.LOSE;
    }
    return self.ready() ? Step.NONE : Step.REVOKE;
  }

  /** Notes that the consumer has given up its partitions; the next {@link #next} tells others. */
  void given() {
    membership = Membership.JOINED;
    forget();
  }

  private void forget() {
    generation = -1;
    assigned = List.of();
  }

  private synchronized GroupState seen() {
    return seen;
  }

  /** Takes a state that was read or written, unless a later one is known. */
  private void see(GroupState state, long version) {
    synchronized (this) {
      if (version <= seenVersion) {
        return;
      }
      seen = state;
      seenVersion = version;
    }
    onChange.run();
  }

  /** Changes the state of the group; others may change it meanwhile. */
  private GroupState change(
      UnaryOperator<GroupState> step, Map<String, Duration> leases, Duration limit) {
    final HashIndex<String, ByteString> limited = index.deadline(limit);
    final long endNs = System.nanoTime() + limit.toNanos();
    while (true) {
      final Optional<IndexEntry<String, ByteString>> entry = limited.getEntry(stateKey());
      final GroupState next = step.apply(state(entry));
      if (attempt(limited, entry, next, leases, Set.of())) {
        return next;
      }
      if (System.nanoTime() - endNs > 0) {
        throw new TimeoutException(
            "group=" + group + " was changed by others for " + limit.toMillis() + " ms");
      }
    }
  }

  /**
   * Writes a state, if nobody has changed it.
   *
   * @param leases that are written with it.
   * @param ended leases that nobody may have renewed.
   */
  private boolean attempt(
      HashIndex<String, ByteString> limited,
      Optional<IndexEntry<String, ByteString>> entry,
      GroupState next,
      Map<String, Duration> leases,
      Set<String> ended) {
    final long version = entry.map(IndexEntry::version).orElse(0L);
    if (next.equals(state(entry))) {
      see(next, version);
      return true;
    }
    final TransactionResult<String, ByteString> result =
        limited
            .transaction()
            .when(
                conditions -> {
                  conditions.version(stateKey(), version);
                  ended.forEach(conditions::absent);
                })
            .then(
                operations -> {
                  operations.put(stateKey(), TEXT.encode(next.text()));
                  operations.put(
                      TopicCommits.generationKey(group), Codec.int64().encode(next.generation()));
                  leases.forEach((key, ttl) -> operations.put(key, ByteString.EMPTY, ttl));
                })
            .commit();
    if (result.succeeded()) {
      see(next, result.version().orElseThrow());
    }
    return result.succeeded();
  }

  private static GroupState state(Optional<IndexEntry<String, ByteString>> entry) {
    return entry.map(each -> GroupState.parse(TEXT.decode(each.value()))).orElse(GroupState.NONE);
  }

  /** Renews the lease, and removes members that no longer renew theirs. */
  private void heartbeat() {
    final String self = id;
    if (self.isEmpty() || self.equals(left)) {
      return;
    }
    try {
      if (System.nanoTime() - polledNs > times.poll().toNanos()) {
        LOGGER.log(Level.WARNING, "the consumer leaves: no poll for {0}", times.poll());
        leave(self, times.session());
        left = self;
        return;
      }
      index.put(leaseKey(self), ByteString.EMPTY, times.session());
      followState();
      final Optional<IndexEntry<String, ByteString>> entry = index.getEntry(stateKey());
      final GroupState state = state(entry);
      see(state, entry.map(IndexEntry::version).orElse(0L));
      if (!state.members().containsKey(self)) {
        return;
      }
      final Map<String, String> leases = new HashMap<>();
      state.members().keySet().forEach(member -> leases.put(leaseKey(member), member));
      final Set<String> ended = new TreeSet<>(leases.keySet());
      ended.removeAll(index.getAll(leases.keySet()).keySet());
      ended.remove(leaseKey(self));
      if (!ended.isEmpty()) {
        final Set<String> dead = new TreeSet<>();
        ended.forEach(key -> dead.add(leases.get(key)));
        final var unused =
            attempt(index, entry, state.without(dead, sizes::listed), Map.of(), ended);
      }
    } catch (IndexException e) { // the next one may succeed; the lease ends if none does
      LOGGER.log(Level.DEBUG, "heartbeat of " + self, e);
    } catch (RuntimeException e) {
      LOGGER.log(Level.WARNING, "heartbeat of " + self, e);
    }
  }

  /** Lets members give up their partitions if a topic has other ones than at the assignment. */
  private void followTopics() {
    final String self = id;
    try {
      if (!hasOtherTopics(seen())) {
        return;
      }
      final Optional<IndexEntry<String, ByteString>> entry = index.getEntry(stateKey());
      final GroupState state = state(entry);
      if (state.members().containsKey(self) && hasOtherTopics(state)) {
        final var unused = attempt(index, entry, state.rebalanced(), Map.of(), Set.of());
      }
    } catch (RuntimeException e) { // the next look may succeed
      LOGGER.log(Level.DEBUG, "topics of group " + group, e);
    }
  }

  /** A list confirms what may be old: members would rebalance for each other's old lists. */
  private boolean hasOtherTopics(GroupState state) {
    return state.phase() == GroupState.Phase.STABLE
        && state.partitions().entrySet().stream()
            .anyMatch(
                each ->
                    sizes.count(each.getKey()) != each.getValue()
                        && sizes.listed(each.getKey()) != each.getValue());
  }

  private void leave(String self, Duration limit) {
    final var unused = change(state -> state.without(Set.of(self), sizes::listed), Map.of(), limit);
    index.deadline(limit).remove(leaseKey(self));
  }

  /**
   * Opens a watch of the state, if there is none: it shows changes before the next heartbeat. Where
   * one has ended, the state may be of another index by now, with lower versions.
   */
  private void followState() {
    if (watch != null && !watchEnded) {
      return;
    }
    watchEnded = false;
    synchronized (this) {
      seenVersion = -1;
    }
    watch =
        index.watchKey(
            stateKey(),
            WatchOptions.fromNow(),
            new WatchListener<>() {
              @Override
              public void onChange(IndexChange<String, ByteString> change) {
                change
                    .value()
                    .ifPresent(
                        value -> see(GroupState.parse(TEXT.decode(value)), change.version()));
              }

              @Override
              public void onEnd(IndexException failure) {
                LOGGER.log(Level.DEBUG, "watch of group " + group, failure);
                watchEnded = true;
              }
            });
    if (heartbeats.isShutdown()) { // its end may not have seen this watch
      watch.close();
    }
  }

  /** Leaves the group, unless the lease shall end by itself; within a time. */
  void close(boolean leaving, Duration timeout) {
    final long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeout.toMillis());
    if (membership == Membership.CLOSED) {
      return;
    }
    membership = Membership.CLOSED;
    heartbeats.shutdown();
    try {
      if (!heartbeats.awaitTermination(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
        heartbeats.shutdownNow();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (watch != null) {
      watch.close();
    }
    final String self = id;
    id = "";
    if (leaving && !self.isEmpty()) {
      try {
        leave(self, Duration.ofNanos(Math.max(1_000_000, endNs - System.nanoTime())));
      } catch (IndexException | TimeoutException e) { // then its lease ends by itself
        LOGGER.log(Level.WARNING, "group " + group + " is not left", e);
      }
    }
  }
}
