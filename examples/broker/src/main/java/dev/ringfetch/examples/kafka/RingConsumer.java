package dev.ringfetch.examples.kafka;

import dev.ringfetch.index.client.IndexClient;
import dev.ringfetch.index.client.IndexException;
import dev.ringfetch.index.client.TopicLog;
import dev.ringfetch.index.client.Topics;
import java.time.Duration;
import java.util.Collection;
import java.util.ConcurrentModificationException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidGroupIdException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.Deserializer;

/**
 * A consumer of Kafka's interface that reads topics of an index by itself: in the server's memory
 * where it can, by calls otherwise. Without records it looks again for a moment, then waits to be
 * notified of an append.
 *
 * <p>It has Kafka's settings by their names, of which {@code bootstrap.servers} names servers of
 * the index. Used by one thread at a time, as Kafka's; {@link #wakeup} by any.
 */
public final class RingConsumer<K, V> extends RestOfConsumer<K, V> {
  /** As long as rings poll before they sleep: a notification takes about as long. */
  private static final long SPIN_NS = 50_000;

  /** Between two looks at the group, which also show that the consumer polls. */
  private static final long WAIT_NS = 1_000_000_000;

  /** Without a wait, before notifications end: a reader that always finds records needs none. */
  private static final long BUSY_NS = 1_000_000_000;

  private final IndexClient owned; // null: it is the caller's
  private final Topics topics;
  private final TopicSizes sizes;
  private final Deserializer<K> keyDeserializer;
  private final Deserializer<V> valueDeserializer;
  private final Duration apiTimeout;
  private final AssignedPartitions<K, V> partitions;
  private final GroupFollower group; // null: none
  private final Signal signal = new Signal();
  private final AtomicReference<Thread> user = new AtomicReference<>();
  private volatile boolean wokenUp;

  // Of the thread that uses it.
  private int depth; // of operations: listeners run others
  private Mode mode = Mode.NONE;
  private Set<String> subscription = Set.of();
  private long waitedNs = System.nanoTime();
  private boolean waits; // notifications are on

  private enum Mode {
    NONE,
    /** The application has named the partitions. */
    ASSIGNED,
    /** The group assigns partitions. */
    SUBSCRIBED,
    CLOSED
  }

  /** A consumer with a client of its own, and deserializers by their names in the settings. */
  public RingConsumer(Map<String, Object> settings) {
    this(settings, null, null, null);
  }

  /**
   * A consumer on a client, which stays open.
   *
   * @param client null for one of its own.
   * @param keyDeserializer null for that in the settings; the same for values.
   */
  public RingConsumer(
      Map<String, Object> given,
      IndexClient client,
      Deserializer<K> keyDeserializer,
      Deserializer<V> valueDeserializer) {
    final Settings settings =
        Settings.consumer(given, client != null, keyDeserializer, valueDeserializer);
    this.keyDeserializer = settings.deserializer(keyDeserializer, true);
    this.valueDeserializer = settings.deserializer(valueDeserializer, false);
    apiTimeout = settings.duration(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG);
    final AssignedPartitions.Limits limits =
        new AssignedPartitions.Limits(
            settings.getInt(ConsumerConfig.MAX_POLL_RECORDS_CONFIG),
            settings.getInt(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG),
            settings.reset());
    owned = client == null ? settings.client(apiTimeout) : null;
    topics = (client == null ? owned : client).topics();
    sizes = new TopicSizes(topics, settings.nanos(ConsumerConfig.METADATA_MAX_AGE_CONFIG));
    partitions =
        new AssignedPartitions<>(
            topics, limits, this.keyDeserializer, this.valueDeserializer, signal::raise);
    group =
        settings.getString(ConsumerConfig.GROUP_ID_CONFIG) == null
            ? null
            : new GroupFollower(settings, topics.commits(), partitions, sizes, signal::raise);
  }

  // --- the thread that uses the consumer ---

  /** Runs an operation on the thread that uses the consumer; listeners run others within. */
  private <T> T used(Supplier<T> operation) {
    final Thread self = Thread.currentThread();
    if (user.get() != self && !user.compareAndSet(null, self)) {
      throw new ConcurrentModificationException("a consumer is used by one thread at a time");
    }
    depth++;
    try {
      if (mode == Mode.CLOSED) {
        throw new IllegalStateException("the consumer is closed");
      }
      return operation.get();
    } finally {
      if (--depth == 0) {
        user.set(null);
      }
    }
  }

  private void use(Runnable operation) {
    final Object unused =
        used(
            () -> {
              operation.run();
              return null;
            });
  }

  /** Asks the index, and fails as Kafka does. */
  private <T> T asked(Supplier<T> question) {
    return used(
        () -> {
          try {
            return question.get();
          } catch (IndexException e) {
            throw Failures.of(e);
          }
        });
  }

  private void wakeUpIfAsked() {
    if (wokenUp) {
      wokenUp = false;
      throw new WakeupException();
    }
  }

  @Override
  public void wakeup() {
    wokenUp = true;
    signal.raise();
  }

  @Override
  Duration apiTimeout() {
    return apiTimeout;
  }

  // --- what it reads ---

  @Override
  public Set<TopicPartition> assignment() {
    return used(partitions::all);
  }

  @Override
  public Set<String> subscription() {
    return used(() -> Set.copyOf(subscription));
  }

  @Override
  public void assign(Collection<TopicPartition> places) {
    if (places.isEmpty()) {
      unsubscribe();
      return;
    }
    use(
        () -> {
          places.forEach(place -> sizes.existing(place.topic()));
          switchTo(Mode.ASSIGNED);
          commitAtEnd();
          partitions.set(places);
        });
  }

  private void switchTo(Mode next) {
    if (mode != Mode.NONE && mode != next) {
      throw new IllegalStateException(
          "a consumer either subscribes or is assigned partitions: unsubscribe first; mode="
              + mode);
    }
    mode = next;
  }

  @Override
  public void subscribe(Collection<String> names, ConsumerRebalanceListener called) {
    if (names.isEmpty()) {
      unsubscribe();
      return;
    }
    use(
        () -> {
          needGroup();
          switchTo(Mode.SUBSCRIBED);
          final Set<String> next = new TreeSet<>(names);
          if (!next.equals(subscription)) {
            subscription = Set.of();
            group.leave();
            group.subscribe(next);
            subscription = next;
          }
          group.listener(called);
        });
  }

  private void needGroup() {
    if (group == null) {
      throw new InvalidGroupIdException(
          "no group: set " + ConsumerConfig.GROUP_ID_CONFIG + " to subscribe or commit");
    }
  }

  @Override
  public void unsubscribe() {
    use(
        () -> {
          try {
            if (group != null) {
              group.leave();
            }
          } finally {
            subscription = Set.of();
            partitions.set(Set.of());
            mode = Mode.NONE;
          }
        });
  }

  private void commitAtEnd() {
    if (group != null) {
      group.commitAtEnd();
    }
  }

  // --- records ---

  @Override
  public ConsumerRecords<K, V> poll(Duration timeout) {
    return used(() -> pollUntil(System.nanoTime(), saturated(timeout)));
  }

  private ConsumerRecords<K, V> pollUntil(long beginNs, long limitNs) {
    if (mode == Mode.NONE) {
      throw new IllegalStateException("the consumer is neither subscribed nor assigned");
    }
    long emptyNs = 0; // of the first look without records since the last wait; 0: none
    while (true) {
      wakeUpIfAsked();
      final long seen = signal.events();
      if (group != null) {
        group.follow();
      }
      final boolean known = findPositions();
      if (group != null) {
        group.commitInTime();
      }
      final ConsumerRecords<K, V> records = partitions.fetch();
      final long nowNs = System.nanoTime();
      if (!records.isEmpty()) {
        if (waits && nowNs - waitedNs > BUSY_NS) {
          waits = false;
          partitions.notifications(false);
        }
        return records;
      }
      final long leftNs = limitNs - (nowNs - beginNs);
      if (leftNs <= 0) {
        return ConsumerRecords.empty();
      }
      emptyNs = emptyNs == 0 ? nowNs : emptyNs;
      if (known && nowNs - emptyNs < SPIN_NS) {
        Thread.onSpinWait();
      } else {
        emptyNs = 0;
        await(seen, leftNs, nowNs);
      }
    }
  }

  private void await(long seen, long leftNs, long nowNs) {
    waitedNs = nowNs;
    waits = true;
    partitions.notifications(true); // which raises the signal when it begins: the loop looks again
    try {
      signal.await(seen, Math.min(leftNs, WAIT_NS));
    } catch (InterruptedException e) {
      throw new InterruptException(e);
    }
  }

  /** Finds the positions of new partitions; false if the index could not be reached. */
  private boolean findPositions() {
    final Set<TopicPartition> unknown = partitions.unknown();
    if (unknown.isEmpty()) {
      return true;
    }
    try {
      partitions.begin(
          group == null ? Map.of() : group.committed(unknown, AssignedPartitions.READ_LIMIT));
      return true;
    } catch (RuntimeException e) {
      final RuntimeException failure = Failures.of(e);
      if (failure instanceof TimeoutException) {
        return false;
      }
      throw failure;
    }
  }

  private static long saturated(Duration timeout) {
    try {
      return timeout.toNanos();
    } catch (ArithmeticException e) {
      return Long.MAX_VALUE;
    }
  }

  // --- positions ---

  @Override
  public void seek(TopicPartition place, long offset) {
    if (offset < 0) {
      throw new IllegalArgumentException("offset=" + offset + " is negative");
    }
    use(() -> partitions.reader(place).position(offset));
  }

  @Override
  public void seekToBeginning(Collection<TopicPartition> places) {
    seekTo(places, TopicLog::first);
  }

  @Override
  public void seekToEnd(Collection<TopicPartition> places) {
    seekTo(places, TopicLog::end);
  }

  private void seekTo(Collection<TopicPartition> places, ToLongFunction<TopicLog> where) {
    use(
        () -> {
          for (final TopicPartition place : places.isEmpty() ? partitions.all() : places) {
            final PartitionReader reader = partitions.reader(place);
            reader.position(asked(() -> where.applyAsLong(reader.log().deadline(apiTimeout))));
          }
        });
  }

  @Override
  public long position(TopicPartition place, Duration timeout) {
    return used(
        () -> {
          final PartitionReader reader = partitions.reader(place);
          final long beginNs = System.nanoTime();
          while (reader.position() == PartitionReader.UNKNOWN && !findPositions()) {
            wakeUpIfAsked();
            if (System.nanoTime() - beginNs > saturated(timeout)) {
              throw new TimeoutException("no position of " + place + " within " + timeout);
            }
          }
          return reader.position();
        });
  }

  @Override
  public void pause(Collection<TopicPartition> places) {
    use(() -> places.forEach(place -> partitions.reader(place).pause(true)));
  }

  @Override
  public void resume(Collection<TopicPartition> places) {
    use(() -> places.forEach(place -> partitions.reader(place).pause(false)));
  }

  @Override
  public Set<TopicPartition> paused() {
    return used(
        () ->
            partitions.all().stream()
                .filter(place -> partitions.reader(place).isPaused())
                .collect(Collectors.toSet()));
  }

  // --- commits ---

  @Override
  public void commitSync(Duration timeout) {
    use(() -> commitSync(partitions.positions(), timeout));
  }

  /**
   * Commits offsets.
   *
   * @throws CommitFailedException if the group has a later generation.
   */
  @Override
  public void commitSync(Map<TopicPartition, OffsetAndMetadata> offsets, Duration timeout) {
    use(
        () -> {
          needGroup();
          wakeUpIfAsked();
          group.commit(offsets, timeout);
        });
  }

  @Override
  public void commitAsync(OffsetCommitCallback callback) {
    use(() -> commitAsync(partitions.positions(), callback));
  }

  @Override
  public void commitAsync(
      Map<TopicPartition, OffsetAndMetadata> offsets, OffsetCommitCallback callback) {
    use(
        () -> {
          needGroup();
          group.commitLater(
              Map.copyOf(offsets), callback == null ? (all, failure) -> {} : callback);
        });
  }

  /** The commits of partitions; null for those without one. */
  @Override
  public Map<TopicPartition, OffsetAndMetadata> committed(
      Set<TopicPartition> places, Duration timeout) {
    return used(
        () -> {
          needGroup();
          final Map<TopicPartition, OffsetAndMetadata> all = new HashMap<>();
          places.forEach(place -> all.put(place, null));
          all.putAll(group.committed(places, timeout));
          return all;
        });
  }

  @Override
  public ConsumerGroupMetadata groupMetadata() {
    return used(
        () -> {
          needGroup();
          return group.metadata();
        });
  }

  // --- topics ---

  @Override
  public List<PartitionInfo> partitionsFor(String topic, Duration timeout) {
    return used(() -> sizes.partitions(topic));
  }

  @Override
  public Map<String, List<PartitionInfo>> listTopics(Duration timeout) {
    return asked(
        () -> topics.list().stream().collect(Collectors.toMap(each -> each, sizes::partitions)));
  }

  /** The first records at or after times; null for partitions without one. */
  @Override
  public Map<TopicPartition, OffsetAndTimestamp> offsetsForTimes(
      Map<TopicPartition, Long> wanted, Duration timeout) {
    return asked(
        () -> {
          final Map<TopicPartition, OffsetAndTimestamp> found = new HashMap<>();
          wanted.forEach(
              (place, timeMs) -> {
                final TopicLog log = partitions.log(place).deadline(timeout);
                final OptionalLong offset = log.offsetAt(timeMs);
                found.put(
                    place,
                    offset.isEmpty()
                        ? null
                        : log.read(offset.getAsLong(), 1, 1).stream()
                            .findFirst()
                            .map(each -> new OffsetAndTimestamp(each.offset(), each.timeMs()))
                            .orElse(null));
              });
          return found;
        });
  }

  @Override
  public Map<TopicPartition, Long> beginningOffsets(
      Collection<TopicPartition> places, Duration timeout) {
    return ends(places, timeout, TopicLog::first);
  }

  @Override
  public Map<TopicPartition, Long> endOffsets(Collection<TopicPartition> places, Duration timeout) {
    return ends(places, timeout, TopicLog::end);
  }

  private Map<TopicPartition, Long> ends(
      Collection<TopicPartition> places, Duration timeout, ToLongFunction<TopicLog> end) {
    return asked(
        () ->
            places.stream()
                .distinct()
                .collect(
                    Collectors.toMap(
                        place -> place,
                        place -> end.applyAsLong(partitions.log(place).deadline(timeout)))));
  }

  /** How far the end is from the position; offsets may have gaps, so it may be fewer records. */
  @Override
  public OptionalLong currentLag(TopicPartition place) {
    return asked(
        () -> {
          final PartitionReader reader = partitions.reader(place);
          return reader.position() == PartitionReader.UNKNOWN
              ? OptionalLong.empty()
              : OptionalLong.of(Math.max(0, reader.log().end() - reader.position()));
        });
  }

  // --- the end ---

  /**
   * Commits if it does so by itself, leaves the group, runs callbacks of commits, and ends; within
   * the timeout, beside what listeners and callbacks take. Idempotent.
   */
  @Override
  public void close(CloseOptions options) {
    if (mode == Mode.CLOSED) {
      return;
    }
    final boolean leaving =
        options.groupMembershipOperation() != CloseOptions.GroupMembershipOperation.REMAIN_IN_GROUP;
    final Duration timeout = options.timeout().orElse(apiTimeout);
    use(
        () -> {
          try {
            if (group != null) {
              group.close(leaving, timeout);
            }
          } finally {
            mode = Mode.CLOSED;
            end();
          }
        });
  }

  private void end() {
    partitions.close();
    keyDeserializer.close();
    valueDeserializer.close();
    if (owned != null) {
      owned.close();
    }
  }
}
