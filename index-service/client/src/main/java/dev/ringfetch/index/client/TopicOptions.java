package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.Durability;
import java.time.Duration;

/**
 * The options of a new topic. Immutable: each setting returns other options.
 *
 * @param partitions number of its partitions, from 1 to {@value #MAX_PARTITIONS}.
 * @param durability what an answered append survives; {@link Durability#DURABILITY_UNSPECIFIED},
 *     the default, for the server's.
 * @param replicas nodes of a cluster that have each partition; 0, the default, for the server's.
 * @param retention how long a record is kept; {@link Duration#ZERO}, the default, for ever.
 * @param retentionBytes of index memory that the records of each partition may take; 0, the
 *     default, for any number. The oldest records go first.
 */
public record TopicOptions(
    int partitions, Durability durability, int replicas, Duration retention, long retentionBytes) {
  /** The most partitions of a topic. */
  public static final int MAX_PARTITIONS = 512;

  /** The longest retention but for ever. */
  public static final Duration MAX_RETENTION = Duration.ofDays(3650);

  /**
   * Creates options.
   *
   * @throws IllegalArgumentException beyond a limit.
   */
  public TopicOptions {
    if (partitions < 1 || partitions > MAX_PARTITIONS) {
      throw new IllegalArgumentException(
          "partitions=" + partitions + " is not from 1 to " + MAX_PARTITIONS);
    }
    if (replicas < 0) {
      throw new IllegalArgumentException("replicas=" + replicas + " is negative");
    }
    final boolean isInLimits =
        retention.compareTo(Duration.ofMillis(1)) >= 0 && retention.compareTo(MAX_RETENTION) <= 0;
    if (!retention.isZero() && !isInLimits) {
      throw new IllegalArgumentException(
          "retention=" + retention + " is neither 0 nor from a millisecond to 3650 days");
    }
    if (retentionBytes < 0) {
      throw new IllegalArgumentException("retentionBytes=" + retentionBytes + " is negative");
    }
  }

  /** Options with this number of partitions, and the defaults. */
  public static TopicOptions partitions(int partitions) {
    return new TopicOptions(partitions, Durability.DURABILITY_UNSPECIFIED, 0, Duration.ZERO, 0);
  }

  /** Sets what an answered append survives. */
  public TopicOptions durability(Durability level) {
    return new TopicOptions(partitions, level, replicas, retention, retentionBytes);
  }

  /** Sets the number of nodes that have each partition. */
  public TopicOptions replicas(int nodes) {
    return new TopicOptions(partitions, durability, nodes, retention, retentionBytes);
  }

  /** Sets how long a record is kept. */
  public TopicOptions retention(Duration age) {
    return new TopicOptions(partitions, durability, replicas, age, retentionBytes);
  }

  /** Sets how much memory the records of each partition may take. */
  public TopicOptions retentionBytes(long bytes) {
    return new TopicOptions(partitions, durability, replicas, retention, bytes);
  }
}
