package dev.ringfetch.benchmarks.broker;

import dev.ringfetch.examples.kafka.RingConsumer;
import dev.ringfetch.examples.kafka.RingProducer;
import dev.ringfetch.examples.process.Answer;
import dev.ringfetch.examples.process.CommandLoop;
import dev.ringfetch.index.client.IndexClient;
import dev.ringfetch.index.client.TopicOptions;
import dev.ringfetch.index.v1.Durability;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.HdrHistogram.Histogram;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The client's process of {@code bench broker}: the same code on Kafka's interfaces, over topics of
 * an index or over Kafka. Arguments: {@code ring} or {@code kafka}, the target, and the durability.
 */
public final class BrokerClient {
  /** The word for a client of an index. */
  public static final String RING = "ring";

  /** The word for one of Kafka. */
  public static final String KAFKA = "kafka";

  /** Kept: a logger's level is forgotten with it. */
  private static final Logger KAFKA_LOG = Logger.getLogger("org.apache.kafka");

  private static final int PARTITIONS = 4;
  private static final int VALUE_BYTES = 100;
  private static final Duration POLL = Duration.ofMillis(100);

  private final boolean isRing;
  private final String target;
  private final Durability durability;
  private final IndexClient client; // null for Kafka

  private BrokerClient(boolean isRing, String target, Durability durability) {
    this.isRing = isRing;
    this.target = target;
    this.durability = durability;
    client = isRing ? IndexClient.connect(target) : null;
  }

  /** Runs the process. */
  public static void main(String[] args) throws Exception {
    KAFKA_LOG.setLevel(Level.SEVERE); // it repeats sends to a topic that begins, and says so
    final BrokerClient client =
        new BrokerClient(args[0].equals(RING), args[1], Durability.valueOf(args[2]));
    new CommandLoop()
        .on("create", arguments -> client.create(arguments.get(0)))
        .on("delete", arguments -> client.delete(arguments.get(0)))
        .on("append", arguments -> client.append(arguments.get(0), number(arguments, 1)))
        .on("read", arguments -> client.read(arguments.get(0), number(arguments, 1)))
        .on(
            "paced",
            arguments -> client.paced(arguments.get(0), number(arguments, 1), number(arguments, 2)))
        .run();
    if (client.client != null) {
      client.client.close();
    }
  }

  private static long number(List<String> arguments, int index) {
    return Long.parseLong(arguments.get(index));
  }

  private Producer<byte[], byte[]> producer(int lingerMs) {
    final Map<String, Object> settings = new HashMap<>();
    settings.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, target);
    settings.put(ProducerConfig.LINGER_MS_CONFIG, lingerMs);
    return isRing
        ? new RingProducer<>(settings, client, new ByteArraySerializer(), new ByteArraySerializer())
        : new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
  }

  private Consumer<byte[], byte[]> consumer(String topic) {
    final Map<String, Object> settings = new HashMap<>();
    settings.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, target);
    settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
    final Consumer<byte[], byte[]> consumer =
        isRing
            ? new RingConsumer<>(
                settings, client, new ByteArrayDeserializer(), new ByteArrayDeserializer())
            : new KafkaConsumer<>(
                settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    final List<TopicPartition> all = new ArrayList<>();
    for (int i = 0; i < PARTITIONS; i++) {
      all.add(new TopicPartition(topic, i));
    }
    consumer.assign(all);
    return consumer;
  }

  private Answer create(String topic) throws Exception {
    if (isRing) {
      client.topics().create(topic, TopicOptions.partitions(PARTITIONS).durability(durability));
    } else {
      try (Admin admin =
          Admin.create(Map.<String, Object>of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, target))) {
        admin.createTopics(List.of(new NewTopic(topic, PARTITIONS, (short) 1))).all().get();
      }
    }
    return new Answer();
  }

  private Answer delete(String topic) throws Exception {
    if (isRing) {
      client.topics().delete(topic);
    } else {
      try (Admin admin =
          Admin.create(Map.<String, Object>of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, target))) {
        admin.deleteTopics(List.of(topic)).all().get();
      }
    }
    return new Answer();
  }

  /** Sends for so long, as fast as the producer takes records; counts what was acknowledged. */
  private Answer append(String topic, long millis) throws Exception {
    final AtomicLong acknowledged = new AtomicLong();
    final byte[] value = new byte[VALUE_BYTES];
    final long ns;
    try (Producer<byte[], byte[]> producer = producer(5)) { // Kafka's default of linger
      sendFirst(producer, topic);
      final long startNs = System.nanoTime();
      while (System.nanoTime() - startNs < TimeUnit.MILLISECONDS.toNanos(millis)) {
        final var unused =
            producer.send(
                new ProducerRecord<>(topic, value),
                (metadata, failure) -> {
                  if (failure == null) {
                    acknowledged.incrementAndGet();
                  }
                });
      }
      producer.flush();
      ns = System.nanoTime() - startNs;
    }
    return new Answer().with("count", acknowledged.get()).with("ns", ns);
  }

  /** Waits until a new topic takes records: Kafka's answer to the creation comes before that. */
  private static void sendFirst(Producer<byte[], byte[]> producer, String topic) throws Exception {
    for (int i = 0; i < PARTITIONS; i++) {
      producer.send(new ProducerRecord<>(topic, i, null, new byte[Long.BYTES])).get();
    }
  }

  /** Reads so many records from the first on. */
  private Answer read(String topic, long count) {
    try (Consumer<byte[], byte[]> consumer = consumer(topic)) {
      final long beginNs = System.nanoTime();
      long read = 0;
      while (read < count) {
        read += consumer.poll(POLL).count();
      }
      return new Answer().with("count", read).with("ns", System.nanoTime() - beginNs);
    }
  }

  /** Sends so many records a second; measures from the send to the poll that returns a record. */
  private Answer paced(String topic, long millis, long rate) throws Exception {
    final Histogram latency = new Histogram(3);
    final long count = millis * rate / 1_000;
    try (Producer<byte[], byte[]> producer = producer(0);
        Consumer<byte[], byte[]> consumer = consumer(topic)) {
      sendFirst(producer, topic);
      final CompletableFuture<Void> sender =
          CompletableFuture.runAsync(
              () -> {
                final long startNs = System.nanoTime();
                for (long i = 0; i < count; i++) {
                  final long dueNs = startNs + i * TimeUnit.SECONDS.toNanos(1) / rate;
                  while (System.nanoTime() - dueNs < 0) {
                    LockSupport.parkNanos(dueNs - System.nanoTime());
                  }
                  final ByteBuffer value = ByteBuffer.allocate(VALUE_BYTES);
                  value.putLong(System.nanoTime());
                  final var unused = producer.send(new ProducerRecord<>(topic, value.array()));
                }
                producer.flush();
              });
      long read = 0;
      while (read < count) {
        for (final ConsumerRecord<byte[], byte[]> each : consumer.poll(POLL)) {
          final long sentNs = ByteBuffer.wrap(each.value()).getLong();
          if (sentNs != 0) { // otherwise one of the first ones
            latency.recordValue(System.nanoTime() - sentNs);
            read++;
          }
        }
      }
      sender.join();
    }
    return new Answer()
        .with("count", count)
        .with("p50_us", latency.getValueAtPercentile(50) / 1e3)
        .with("p99_us", latency.getValueAtPercentile(99) / 1e3);
  }
}
