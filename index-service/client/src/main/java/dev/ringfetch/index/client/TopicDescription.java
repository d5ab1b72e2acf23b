package dev.ringfetch.index.client;

import dev.ringfetch.index.v1.Durability;
import java.time.Duration;

/**
 * The properties of a topic.
 *
 * @param name of the topic.
 * @param partitions number of its partitions.
 * @param durability what an answered append survives.
 * @param retention how long a record is kept; {@link Duration#ZERO} for ever.
 * @param retentionBytes of index memory that the records of each partition may take; 0 for any
 *     number.
 * @param records number of the records of all partitions.
 */
public record TopicDescription(
    String name,
    int partitions,
    Durability durability,
    Duration retention,
    long retentionBytes,
    long records) {}
