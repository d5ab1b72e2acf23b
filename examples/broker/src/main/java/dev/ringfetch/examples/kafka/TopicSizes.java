package dev.ringfetch.examples.kafka;

import dev.ringfetch.index.client.DeadlineException;
import dev.ringfetch.index.client.Topics;
import dev.ringfetch.index.client.UnavailableException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** The numbers of partitions of topics, each asked for again after some time. Thread-safe. */
final class TopicSizes {
  private final Topics topics;
  private final long maxAgeNs;
  private final Map<String, Known> known = new ConcurrentHashMap<>();

  private record Known(int partitions, long atNs) {}

  TopicSizes(Topics topics, long maxAgeNs) {
    this.topics = topics;
    this.maxAgeNs = maxAgeNs;
  }

  /** The number of partitions, which may be old; 0 if there is no such topic. */
  int count(String topic) {
    final Known last = known.get(topic);
    if (last != null && System.nanoTime() - last.atNs < maxAgeNs) {
      return last.partitions;
    }
    return listed(topic);
  }

  /** The number of partitions by a new list, or as known where there is no answer. */
  int listed(String topic) {
    final Known last = known.get(topic);
    final int partitions;
    try {
      partitions = topics.partitions(topic);
    } catch (DeadlineException | UnavailableException e) { // a fail-over changes no topic
      if (last == null) {
        throw e;
      }
      return last.partitions;
    }
    if (partitions == 0) {
      known.remove(topic);
    } else {
      known.put(topic, new Known(partitions, System.nanoTime()));
    }
    return partitions;
  }

  /** The number of partitions of a topic that there has to be. */
  int existing(String topic) {
    final int count;
    try {
      count = count(topic);
    } catch (RuntimeException e) {
      throw Failures.of(e);
    }
    if (count == 0) {
      throw new UnknownTopicOrPartitionException("there is no topic=" + topic);
    }
    return count;
  }

  /** The partitions of a topic that there has to be; their leaders are the index's matter. */
  List<PartitionInfo> partitions(String topic) {
    final List<PartitionInfo> all = new ArrayList<>();
    for (int i = 0; i < existing(topic); i++) {
      all.add(new PartitionInfo(topic, i, Node.noNode(), new Node[0], new Node[0]));
    }
    return all;
  }
}
