package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.IndexDescription;
import dev.ringfetch.index.v1.IndexKind;
import io.grpc.Status;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The topics of an index server or a cluster. A topic has partitions, and each partition is an
 * ordered index for appends whose name is {@code topic.TOPIC.PARTITION}: so users' rights, levels
 * of durability, direct reads and fail-over are those of indexes.
 *
 * <pre>{@code
 * client.topics().create("orders", TopicOptions.partitions(4).retention(Duration.ofDays(7)));
 * TopicLog log = client.topics().log("orders", 0);
 * List<Long> offsets = log.append(List.of(ByteString.copyFromUtf8("an order"))).join().offsets();
 * List<TopicRecord> records = log.read(log.first(), 100, 1 << 20);
 * }</pre>
 *
 * <p>A topic exists if its partition 0 does, which is created last and dropped first. It has the
 * partitions from 0 on without a gap. Safe for use by many threads.
 */
public final class Topics {
  /** Lists of a topic that other clients create and delete, before an operation gives up. */
  private static final int ROUNDS = 10;

  private final IndexClient client;

  Topics(IndexClient client) {
    this.client = client;
  }

  /**
   * Creates a topic, if there is none. It goes on with a creation that has not ended, of any
   * client, and drops nothing. What a deletion at the same time takes away, it creates again.
   *
   * @return whether it was created.
   * @throws IndexException with ALREADY_EXISTS if the topic has other options: another number of
   *     partitions, durability or retention; with FAILED_PRECONDITION if a deletion has left
   *     partitions, which {@link #delete} drops; with ABORTED if other clients delete the topic
   *     again and again.
   */
  public boolean create(String topic, TopicOptions options) {
    SortedMap<Integer, IndexDescription> known = indexes(topic);
    if (known.containsKey(0) && count(known) != options.partitions()) {
      throw otherNumber(topic, count(known));
    }
    boolean created = false;
    for (int round = 0; round < ROUNDS; round++) {
      // Another client may have ended the creation, and appended, since the list.
      if (!known.containsKey(0)
          && isLeft(known, options.partitions())
          && !indexes(topic).containsKey(0)) {
        throw refused(
            Operation.CREATE,
            topic,
            Status.FAILED_PRECONDITION.withDescription(
                "a deletion or another creation has left partitions: delete the topic first: topic="
                    + topic));
      }
      for (int i = options.partitions() - 1; i >= 0; i--) {
        created |= client.create(request(new TopicPartition(topic, i), options)) && i == 0;
      }
      known = indexes(topic);
      if (!known.tailMap(options.partitions()).isEmpty()) {
        throw otherNumber(topic, count(known));
      }
      if (count(known) == options.partitions()) {
        createCommits(options);
        return created;
      } // else a deletion has taken partitions meanwhile
    }
    throw unsettled(Operation.CREATE, topic);
  }

  /** Creates the index of commits, if there is none, as durable as a topic. */
  private void createCommits(TopicOptions options) {
    try {
      client.create(
          CreateIndexRequest.newBuilder()
              .setIndex(TopicCommits.INDEX)
              .setKind(IndexKind.HASH)
              .setDurability(options.durability())
              .setReplicas(options.replicas())
              .build());
    } catch (IndexException e) {
      switch (e.code()) {
        case ALREADY_EXISTS, FAILED_PRECONDITION, PERMISSION_DENIED -> {} // as it is, or will be
        default -> throw e;
      }
    }
  }

  private static IndexException otherNumber(String topic, int count) {
    return refused(
        Operation.CREATE,
        topic,
        Status.ALREADY_EXISTS.withDescription(
            "the topic has another number of partitions: topic=" + topic + " partitions=" + count));
  }

  private static IndexException unsettled(Operation operation, String topic) {
    return refused(
        operation,
        topic,
        Status.ABORTED.withDescription(
            "other clients create and delete the topic: topic=" + topic + " rounds=" + ROUNDS));
  }

  private static IndexException refused(Operation operation, String topic, Status status) {
    return new IndexException(
        new Subject(operation, new TopicPartition(topic, 0).index(), null), status, false);
  }

  /** Whether partitions are those of a topic with more of them, or have records. */
  private boolean isLeft(SortedMap<Integer, IndexDescription> known, int wanted) {
    return !known.tailMap(wanted).isEmpty()
        || known.values().stream().anyMatch(index -> records(index.getName()) > 0);
  }

  /** The number of records of a partition, which its leader counts. */
  private long records(String index) {
    return client.describe(index).map(IndexDescription::getEntries).orElse(0L);
  }

  private static CreateIndexRequest request(TopicPartition partition, TopicOptions options) {
    final CreateIndexRequest.Builder request =
        CreateIndexRequest.newBuilder()
            .setIndex(partition.index())
            .setDurability(options.durability())
            .setReplicas(options.replicas());
    request
        .getAppendsBuilder()
        .setRetentionMs(options.retention().toMillis())
        .setRetentionBytes(options.retentionBytes());
    return request.build();
  }

  /** The indexes that may be partitions of a topic, by their numbers. */
  private SortedMap<Integer, IndexDescription> indexes(String topic) {
    new TopicPartition(topic, 0); // checks the name
    final SortedMap<Integer, IndexDescription> partitions = new TreeMap<>();
    for (final IndexDescription index : client.listed()) {
      TopicPartition.ofIndex(index.getName())
          .filter(partition -> index.hasAppends() && partition.topic().equals(topic))
          .ifPresent(partition -> partitions.put(partition.partition(), index));
    }
    return partitions;
  }

  /** The number of partitions from 0 on, without a gap. */
  private static int count(SortedMap<Integer, IndexDescription> partitions) {
    int count = 0;
    while (partitions.containsKey(count)) {
      count++;
    }
    return count;
  }

  /** Names of the topics, in their order. */
  public List<String> list() {
    return client.listed().stream()
        .filter(IndexDescription::hasAppends)
        .flatMap(index -> TopicPartition.ofIndex(index.getName()).stream())
        .filter(partition -> partition.partition() == 0)
        .map(TopicPartition::topic)
        .sorted()
        .collect(Collectors.toList());
  }

  /** The number of partitions of a topic by one call; 0 if there is no such topic. */
  public int partitions(String topic) {
    return count(indexes(topic));
  }

  /** The properties of a topic; empty if there is none. */
  public Optional<TopicDescription> describe(String topic) {
    final SortedMap<Integer, IndexDescription> known = indexes(topic);
    final int count = count(known);
    if (count == 0) {
      return Optional.empty();
    }
    long records = 0;
    for (int i = 0; i < count; i++) {
      records += records(known.get(i).getName());
    }
    final IndexDescription index = known.get(0);
    return Optional.of(
        new TopicDescription(
            topic,
            count,
            index.getDurability(),
            Duration.ofMillis(index.getAppends().getRetentionMs()),
            index.getAppends().getRetentionBytes(),
            records));
  }

  /**
   * Deletes a topic with all its records, also one that is being created meanwhile, and then the
   * commits of groups for it, where the user may; one that was created later stays.
   *
   * @return whether there was one, or a part of one.
   * @throws IndexException with ABORTED if other clients create the topic again and again, or if
   *     one that is there again lacks partitions that were dropped: a later topic with fewer, or
   *     one whose creation took those for its own.
   */
  public boolean delete(String topic) {
    final Map<String, Long> commits = new HashMap<>();
    permitted(
        () -> commits.putAll(commits().versions(topic))); // before it is found: of no later one
    final Set<Integer> dropped = new HashSet<>();
    for (int round = 0; round < ROUNDS; round++) {
      final SortedMap<Integer, IndexDescription> left = indexes(topic);
      final boolean isThereAgain = round > 0 && left.containsKey(0);
      if (left.isEmpty() || (isThereAgain && left.keySet().containsAll(dropped))) {
        permitted(() -> commits.forEach(commits().index()::removeIf));
        return round > 0;
      }
      // Without one that was dropped it lacks what its creation adds next, or it has fewer.
      if (!isThereAgain) {
        left.forEach( // the first one first: from then on there is no topic
            (number, index) -> {
              if (drop(index)) {
                dropped.add(number);
              }
            });
      }
    }
    throw unsettled(Operation.DROP, topic);
  }

  /** Runs a step, unless the user may not. */
  private static void permitted(Runnable step) {
    try {
      step.run();
    } catch (IndexException e) {
      if (e.code() != Status.Code.PERMISSION_DENIED) {
        throw e;
      }
    }
  }

  /** Drops an index of a list; false if it is gone, or another one is there, which stays. */
  private boolean drop(IndexDescription listed) {
    try {
      return client.drop(listed.getName(), listed.getIncarnation());
    } catch (IndexException e) {
      if (e.code() != Status.Code.FAILED_PRECONDITION) {
        throw e;
      }
      return false;
    }
  }

  /** A partition of a topic, which need not exist yet. */
  public TopicLog log(String topic, int partition) {
    return log(new TopicPartition(topic, partition));
  }

  /** As {@link #log(String, int)}. */
  public TopicLog log(TopicPartition partition) {
    return new TopicLog(client.ordered(partition.index(), BasicCodecs.OFFSET, Codec.byteString()));
  }

  /** The offsets that groups of readers have committed. */
  public TopicCommits commits() {
    return new TopicCommits(client.hash(TopicCommits.INDEX, Codec.string(), Codec.byteString()));
  }
}
