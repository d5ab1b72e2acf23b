package dev.ringfetch.examples.kafka;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metrics.KafkaMetric;

/**
 * The part of Kafka's interface of consumers that another part carries: methods without a timeout
 * or a listener, and those that are refused.
 */
abstract class RestOfConsumer<K, V> implements Consumer<K, V> {
  static final ConsumerRebalanceListener NO_LISTENER =
      new ConsumerRebalanceListener() {
        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {}

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {}
      };

  /** The timeout of methods without one. */
  abstract Duration apiTimeout();

  @Override
  public void subscribe(Collection<String> names) {
    subscribe(names, NO_LISTENER);
  }

  @Override
  public void seek(TopicPartition place, OffsetAndMetadata next) {
    seek(place, next.offset());
  }

  @Override
  public long position(TopicPartition place) {
    return position(place, apiTimeout());
  }

  @Override
  public void commitSync() {
    commitSync(apiTimeout());
  }

  @Override
  public void commitSync(Map<TopicPartition, OffsetAndMetadata> offsets) {
    commitSync(offsets, apiTimeout());
  }

  @Override
  public void commitAsync() {
    commitAsync((OffsetCommitCallback) null);
  }

  @Override
  public Map<TopicPartition, OffsetAndMetadata> committed(Set<TopicPartition> places) {
    return committed(places, apiTimeout());
  }

  @Override
  public List<PartitionInfo> partitionsFor(String topic) {
    return partitionsFor(topic, apiTimeout());
  }

  @Override
  public Map<String, List<PartitionInfo>> listTopics() {
    return listTopics(apiTimeout());
  }

  @Override
  public Map<TopicPartition, OffsetAndTimestamp> offsetsForTimes(Map<TopicPartition, Long> wanted) {
    return offsetsForTimes(wanted, apiTimeout());
  }

  @Override
  public Map<TopicPartition, Long> beginningOffsets(Collection<TopicPartition> places) {
    return beginningOffsets(places, apiTimeout());
  }

  @Override
  public Map<TopicPartition, Long> endOffsets(Collection<TopicPartition> places) {
    return endOffsets(places, apiTimeout());
  }

  @Override
  public void close() {
    close(CloseOptions.timeout(apiTimeout()));
  }

  @Override
  @SuppressWarnings("deprecation") // of the interface
  public void close(Duration timeout) {
    close(CloseOptions.timeout(timeout));
  }

  @Override
  public void subscribe(Pattern pattern, ConsumerRebalanceListener called) {
    throw Refusals.of("subscribe(Pattern)", Refusals.PATTERNS);
  }

  @Override
  public void subscribe(Pattern pattern) {
    throw Refusals.of("subscribe(Pattern)", Refusals.PATTERNS);
  }

  @Override
  public void subscribe(SubscriptionPattern pattern, ConsumerRebalanceListener called) {
    throw Refusals.of("subscribe(SubscriptionPattern)", Refusals.PATTERNS);
  }

  @Override
  public void subscribe(SubscriptionPattern pattern) {
    throw Refusals.of("subscribe(SubscriptionPattern)", Refusals.PATTERNS);
  }

  @Override
  public void enforceRebalance() {
    throw Refusals.of("enforceRebalance", Refusals.REBALANCE);
  }

  @Override
  public void enforceRebalance(String reason) {
    throw Refusals.of("enforceRebalance", Refusals.REBALANCE);
  }

  /** Returns none: the index's client counts its operations. */
  @Override
  public Map<MetricName, ? extends Metric> metrics() {
    return Map.of();
  }

  @Override
  public void registerMetricForSubscription(KafkaMetric metric) {
    throw Refusals.of("registerMetricForSubscription", Refusals.METRICS);
  }

  @Override
  public void unregisterMetricFromSubscription(KafkaMetric metric) {
    throw Refusals.of("unregisterMetricFromSubscription", Refusals.METRICS);
  }

  @Override
  public Uuid clientInstanceId(Duration timeout) {
    throw Refusals.of("clientInstanceId", Refusals.METRICS);
  }
}
