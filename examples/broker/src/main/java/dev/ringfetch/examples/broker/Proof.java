package dev.ringfetch.examples.broker;

import com.google.protobuf.ByteString;
import dev.ringfetch.examples.kafka.RingConsumer;
import dev.ringfetch.index.client.HashIndex;
import dev.ringfetch.index.client.IndexClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * The proof of the demo: compares what producers and consumers have written down, the results in
 * the index, and the topic itself. Used by one thread.
 */
final class Proof {
  private static final int MOST_MISTAKES = 20; // that are described

  private final int partitions;
  private final List<String> mistakes = new ArrayList<>();
  private final Set<SeenRecord> acknowledged = new HashSet<>();
  private final Set<SeenRecord> read = new HashSet<>();
  private long reads;
  private long appended;

  Proof(int partitions) {
    this.partitions = partitions;
  }

  /** Takes the file of a producer: its offsets grow with its sequence, in each partition. */
  void acknowledged(List<List<SeenRecord>> parts) {
    final Map<Integer, SeenRecord> last = new HashMap<>();
    for (final SeenRecord each : parts.get(0)) {
      final SeenRecord before = last.put(each.partition(), each);
      if (before != null
          && (before.sequence() >= each.sequence() || before.offset() >= each.offset())) {
        mistake("acknowledged out of order: " + before + ", then " + each);
      }
      acknowledged.add(each);
    }
  }

  /** Takes the file of a consumer: between two assignments, offsets of a partition grow. */
  void read(List<List<SeenRecord>> parts) {
    for (final List<SeenRecord> part : parts) {
      final Map<Integer, SeenRecord> last = new HashMap<>();
      for (final SeenRecord each : part) {
        final SeenRecord before = last.put(each.partition(), each);
        if (before != null && before.offset() >= each.offset()) {
          mistake("read out of order: " + before + ", then " + each);
        }
        read.add(each);
        reads++;
      }
    }
  }

  /** Compares all with the topic, which it reads from the begin, and with the results. */
  void check(IndexClient client) {
    for (final SeenRecord each : acknowledged) {
      if (!read.contains(each)) {
        mistake("acknowledged and not read: " + each);
      }
    }
    final HashIndex<String, ByteString> results = client.topics().commits().index();
    final Set<SeenRecord> inTopic = new HashSet<>();
    final Set<String> orders = new HashSet<>();
    try (RingConsumer<String, String> consumer =
        new RingConsumer<>(
            Map.of(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest"),
            client,
            new StringDeserializer(),
            new StringDeserializer())) {
      final List<TopicPartition> all =
          IntStream.range(0, partitions)
              .mapToObj(each -> new TopicPartition(BrokerDemo.TOPIC, each))
              .toList();
      consumer.assign(all);
      final Map<TopicPartition, Long> ends = consumer.endOffsets(all);
      final Map<TopicPartition, Tally> tallies = new HashMap<>();
      final Map<String, Long> last = new TreeMap<>(); // sequences, by partition and producer
      while (all.stream().anyMatch(each -> consumer.position(each) < ends.get(each))) {
        for (final ConsumerRecord<String, String> each : consumer.poll(Duration.ofSeconds(1))) {
          final Order order = Order.parse(each.value());
          inTopic.add(
              new SeenRecord(each.partition(), each.offset(), order.producer(), order.sequence()));
          if (!orders.add(order.producer() + " " + order.sequence())) {
            mistake("appended twice: " + order);
          }
          final Long before = last.put(each.partition() + " " + order.producer(), order.sequence());
          if (before != null && before >= order.sequence()) {
            mistake("appended out of order: " + order + " after " + before);
          }
          tallies.merge(
              new TopicPartition(each.topic(), each.partition()),
              Tally.NONE.with(each.offset(), each.value()),
              (sum, one) -> sum.with(each.offset(), each.value()));
        }
      }
      for (final TopicPartition each : all) {
        final Tally stored =
            results
                .get(Tally.key(BrokerDemo.GROUP, each.partition()))
                .map(Tally::decoded)
                .orElse(Tally.NONE);
        final Tally right = tallies.getOrDefault(each, Tally.NONE);
        if (!stored.equals(right)) {
          mistake("counted wrongly: " + each + " stored=" + stored + " of the topic=" + right);
        }
      }
    }
    appended = inTopic.size();
    read.stream()
        .filter(each -> !inTopic.contains(each))
        .forEach(each -> mistake("read and not in the topic: " + each));
  }

  private void mistake(String text) {
    if (mistakes.size() < MOST_MISTAKES) {
      mistakes.add(text);
    }
  }

  /** The mistakes that were found; empty if all is as it has to be. */
  List<String> mistakes() {
    return mistakes;
  }

  long acknowledgedCount() {
    return acknowledged.size();
  }

  long appendedCount() {
    return appended;
  }

  long readCount() {
    return reads;
  }
}
