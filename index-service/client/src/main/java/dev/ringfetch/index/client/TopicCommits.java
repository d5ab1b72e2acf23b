package dev.ringfetch.index.client;

import com.google.protobuf.ByteString;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The offsets that groups of readers have committed, in the hash index {@value #INDEX}.
 *
 * <p>The key of a commit is <code>{GROUP}/TOPIC/PARTITION</code>, so that all keys of a group have
 * one tag, and a transaction can change them together. The value is the offset in 8 bytes, big
 * endian, and the metadata in UTF-8. The counter <code>{GROUP}/generation</code> fences commits:
 * whoever keeps the members of a group adds 1 to it when they change, in the same transaction. A
 * program that stores its results under keys with the group's tag in this index commits them
 * together with the offsets, by a transaction of {@link #index}. Its keys must not have the form of
 * a commit's: {@link Topics#delete} removes all that have it.
 *
 * <p>Safe for use by many threads.
 */
public final class TopicCommits {
  /** Name of the index. */
  public static final String INDEX = "topic.commits";

  /** The most partitions of one commit. */
  public static final int MAX_PARTITIONS = 120;

  private static final int MAX_GROUP_LENGTH = 200;

  private final HashIndex<String, ByteString> index;

  TopicCommits(HashIndex<String, ByteString> index) {
    this.index = index;
  }

  /**
   * The offset that a group has committed for a partition.
   *
   * @param offset of the next record that the group is to read.
   * @param metadata any text of the reader's.
   */
  public record Commit(long offset, String metadata) {
    /**
     * Creates the commit.
     *
     * @throws IllegalArgumentException if the offset is negative.
     */
    public Commit {
      if (offset < 0) {
        throw new IllegalArgumentException("offset=" + offset + " is negative");
      }
    }

    /** Creates a commit without metadata. */
    public Commit(long offset) {
      this(offset, "");
    }

    /** The value of its entry. */
    public ByteString encoded() {
      return BasicCodecs.OFFSET.encode(offset).concat(ByteString.copyFromUtf8(metadata));
    }

    /**
     * The commit of an entry.
     *
     * @throws IllegalArgumentException if the value is none.
     */
    public static Commit decoded(ByteString value) {
      if (value.size() < Long.BYTES) {
        throw new IllegalArgumentException("not a commit: length=" + value.size());
      }
      return new Commit(
          BasicCodecs.OFFSET.decode(value.substring(0, Long.BYTES)),
          value.substring(Long.BYTES).toStringUtf8());
    }
  }

  /** The tag with which all keys of a group begin. */
  public static String tag(String group) {
    if (group.isEmpty() || group.length() > MAX_GROUP_LENGTH) {
      throw new IllegalArgumentException(
          "length=" + group.length() + " of a group is not from 1 to " + MAX_GROUP_LENGTH);
    }
    return "{" + group + "}";
  }

  /** The key of a group's commit for a partition. */
  public static String key(String group, TopicPartition partition) {
    return tag(group) + "/" + partition;
  }

  /** The key of a group's generation: a counter as {@link Codec#int64} has it. */
  public static String generationKey(String group) {
    return tag(group) + "/generation";
  }

  /** The index with the commits, for transactions of a program's own. */
  public HashIndex<String, ByteString> index() {
    return index;
  }

  /** Commits offsets without regard to the generation of the group: for groups of one reader. */
  public void commit(String group, Map<TopicPartition, Commit> commits) {
    commit(group, commits, conditions -> {});
  }

  /**
   * Commits offsets if the group has this generation: all of them, or none.
   *
   * @throws FencedException if it has another one.
   */
  public void commit(String group, long generation, Map<TopicPartition, Commit> commits) {
    final String key = generationKey(group);
    if (!commit(
        group,
        commits,
        conditions -> {
          if (generation == 0) {
            conditions.absent(key);
          } else {
            conditions.value(key, Codec.int64().encode(generation));
          }
        })) {
      throw new FencedException(
          index.view().subject(Operation.TRANSACTION, null), generation, generation(group));
    }
  }

  private boolean commit(
      String group,
      Map<TopicPartition, Commit> commits,
      Consumer<TransactionConditions<String, ByteString>> when) {
    if (commits.size() > MAX_PARTITIONS) {
      throw new IllegalArgumentException(
          "partitions=" + commits.size() + " exceeds " + MAX_PARTITIONS);
    }
    if (commits.isEmpty()) {
      return true;
    }
    return index
        .transaction()
        .when(when)
        .then(
            operations ->
                commits.forEach(
                    (partition, commit) -> operations.put(key(group, partition), commit.encoded())))
        .commit()
        .succeeded();
  }

  /** The keys of the commits of all groups for a topic, with their versions; reads the index. */
  Map<String, Long> versions(String topic) {
    final Pattern keys =
        Pattern.compile("\\{.+}/" + Pattern.quote(topic) + "/\\d+", Pattern.DOTALL);
    final Map<String, Long> versions = new HashMap<>();
    for (final IndexEntry<String, ByteString> entry : index.scan()) {
      if (keys.matcher(entry.key()).matches()) {
        versions.put(entry.key(), entry.version());
      }
    }
    return versions;
  }

  /** The commit of a group for a partition; empty if there is none. */
  public Optional<Commit> committed(String group, TopicPartition partition) {
    return index.get(key(group, partition)).map(Commit::decoded);
  }

  /** The commits of a group for these partitions, without those for which there is none. */
  public Map<TopicPartition, Commit> committed(
      String group, Collection<TopicPartition> partitions) {
    final Map<String, TopicPartition> keys =
        partitions.stream()
            .distinct()
            .collect(Collectors.toMap(partition -> key(group, partition), partition -> partition));
    final Map<TopicPartition, Commit> commits = new HashMap<>();
    index
        .getAll(keys.keySet())
        .forEach((key, value) -> commits.put(keys.get(key), Commit.decoded(value)));
    return commits;
  }

  /** The generation of a group; 0 if it has none yet. */
  public long generation(String group) {
    return index.get(generationKey(group)).map(Codec.int64()::decode).orElse(0L);
  }
}
