package dev.ringfetch.index.client;

import java.util.List;

/**
 * The records that a read of a partition has found.
 *
 * @param incarnation of the partition: another number after the topic was deleted and created
 *     again, or its loss was accepted; 0 if there is no such partition.
 * @param records in the order of their offsets; empty at the end of the partition.
 */
public record TopicPage(long incarnation, List<TopicRecord> records) {}
