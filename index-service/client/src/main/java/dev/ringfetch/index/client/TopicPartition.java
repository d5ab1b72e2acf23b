package dev.ringfetch.index.client;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The name of a partition of a topic.
 *
 * @param topic name of the topic: 1 to 200 letters, digits, dots, underscores and hyphens, of
 *     ASCII.
 * @param partition number of the partition, from 0 on.
 */
public record TopicPartition(String topic, int partition) {
  private static final Pattern TOPIC = Pattern.compile("[a-zA-Z0-9._-]{1,200}");
  private static final Pattern INDEX =
      Pattern.compile("topic\\.(" + TOPIC + ")\\.(0|[1-9][0-9]{0,8})");

  /**
   * Creates the name.
   *
   * @throws IllegalArgumentException if it is none.
   */
  public TopicPartition {
    if (!TOPIC.matcher(topic).matches()) {
      throw new IllegalArgumentException(
          "topic=" + topic + " is not made of 1 to 200 of a-z, A-Z, 0-9, '.', '_' and '-'");
    }
    if (partition < 0) {
      throw new IllegalArgumentException("partition=" + partition + " is negative");
    }
  }

  /** The name of the partition's index: {@code topic.TOPIC.PARTITION}. */
  public String index() {
    return "topic." + topic + "." + partition;
  }

  /** The partition of an index of this name; empty if it can be none. */
  public static Optional<TopicPartition> ofIndex(String index) {
    final Matcher matcher = INDEX.matcher(index);
    return matcher.matches()
        ? Optional.of(new TopicPartition(matcher.group(1), Integer.parseInt(matcher.group(2))))
        : Optional.empty();
  }

  @Override
  public String toString() {
    return topic + "/" + partition;
  }
}
