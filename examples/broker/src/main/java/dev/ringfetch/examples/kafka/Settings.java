package dev.ringfetch.examples.kafka;

import dev.ringfetch.index.client.IndexClient;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.GroupProtocol;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serializer;

/**
 * The settings of a producer or a consumer: Kafka's own names, defaults and checks. Settings whose
 * meaning cannot be kept are refused, each with its reason; others that have no meaning here, such
 * as those of sockets, are ignored.
 */
final class Settings extends AbstractConfig {
  private static final String NONE = "none";

  private Settings(ConfigDef definition, Map<String, Object> all) {
    super(definition, all, false);
  }

  /** The settings of a producer. */
  static Settings producer(
      Map<String, Object> given,
      boolean hasClient,
      Serializer<?> keySerializer,
      Serializer<?> valueSerializer) {
    refuse(given, ProducerConfig.TRANSACTIONAL_ID_CONFIG, Refusals.TRANSACTIONS);
    refuse(
        given,
        ProducerConfig.PARTITIONER_CLASS_CONFIG,
        "partitioners see brokers; name the" + " partition in the record");
    refuse(given, ProducerConfig.INTERCEPTOR_CLASSES_CONFIG, Refusals.INTERCEPTORS);
    if (!NONE.equals(given.getOrDefault(ProducerConfig.COMPRESSION_TYPE_CONFIG, NONE))) {
      refuse(
          given,
          ProducerConfig.COMPRESSION_TYPE_CONFIG,
          "records are read in place, and have" + " no compressed form");
    }
    final Map<String, Object> all = withServers(given, hasClient);
    putClass(all, ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, keySerializer);
    putClass(all, ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, valueSerializer);
    return new Settings(ProducerConfig.configDef(), all);
  }

  /** The settings of a consumer. */
  static Settings consumer(
      Map<String, Object> given,
      boolean hasClient,
      Deserializer<?> keyDeserializer,
      Deserializer<?> valueDeserializer) {
    refuse(
        given,
        ConsumerConfig.GROUP_INSTANCE_ID_CONFIG,
        "members are known by their leases;" + " there is no static membership");
    refuse(given, ConsumerConfig.INTERCEPTOR_CLASSES_CONFIG, Refusals.INTERCEPTORS);
    refuse(
        given,
        ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG,
        "all members compute ranges" + " from the same list");
    final Map<String, Object> all = withServers(given, hasClient);
    putClass(all, ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, keyDeserializer);
    putClass(all, ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, valueDeserializer);
    final Settings settings = new Settings(ConsumerConfig.configDef(), all);
    if (!GroupProtocol.CLASSIC.name.equalsIgnoreCase(
        settings.getString(ConsumerConfig.GROUP_PROTOCOL_CONFIG))) {
      throw refusal(
          ConsumerConfig.GROUP_PROTOCOL_CONFIG,
          "there is no coordinator: members agree" + " in the index");
    }
    return settings;
  }

  /** The servers of the index. A client that is given has its own, and Kafka's check wants some. */
  private static Map<String, Object> withServers(Map<String, Object> given, boolean hasClient) {
    final Map<String, Object> all = new HashMap<>(given);
    if (hasClient) {
      all.put(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, List.of("given:1"));
    }
    return all;
  }

  private static void putClass(Map<String, Object> all, String name, Object instance) {
    if (instance != null) {
      all.put(name, instance.getClass());
    }
  }

  private static void refuse(Map<String, Object> given, String name, String reason) {
    if (given.get(name) != null) {
      throw refusal(name, reason);
    }
  }

  private static ConfigException refusal(String name, String reason) {
    return new ConfigException(name + " is not supported: " + reason);
  }

  /** The serializer that was given, or that in the settings. */
  @SuppressWarnings("unchecked") // the user's word
  <T> Serializer<T> serializer(Serializer<T> given, boolean ofKeys) {
    if (given != null) {
      return given;
    }
    final Serializer<T> named =
        getConfiguredInstance(
            ofKeys
                ? ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG
                : ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG,
            Serializer.class);
    named.configure(originals(), ofKeys);
    return named;
  }

  /** The deserializer that was given, or that in the settings. */
  @SuppressWarnings("unchecked") // the user's word
  <T> Deserializer<T> deserializer(Deserializer<T> given, boolean ofKeys) {
    if (given != null) {
      return given;
    }
    final Deserializer<T> named =
        getConfiguredInstance(
            ofKeys
                ? ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG
                : ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG,
            Deserializer.class);
    named.configure(originals(), ofKeys);
    return named;
  }

  /** The setting of a consumer without a commit. */
  AssignedPartitions.Reset reset() {
    final String name = getString(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG);
    for (final AssignedPartitions.Reset reset : AssignedPartitions.Reset.values()) {
      if (reset.name().equalsIgnoreCase(name)) {
        return reset;
      }
    }
    throw refusal(
        ConsumerConfig.AUTO_OFFSET_RESET_CONFIG + "=" + name, "seek by offsetsForTimes instead");
  }

  /** A time that the settings have as a long of milliseconds. */
  long nanos(String name) {
    return TimeUnit.MILLISECONDS.toNanos(getLong(name));
  }

  /** A time that the settings have as an int of milliseconds. */
  Duration duration(String name) {
    return Duration.ofMillis(getInt(name));
  }

  /** A client of the servers that the settings name; its calls may take so long. */
  IndexClient client(Duration deadline) {
    return IndexClient.builder()
        .target(String.join(",", getList(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG)))
        .deadline(deadline)
        .build();
  }
}
