package dev.ringfetch.examples.kafka;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.IndexClient;
import dev.ringfetch.index.client.TopicLog;
import dev.ringfetch.index.client.Topics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.serialization.Serializer;

/**
 * A producer of Kafka's interface that appends to topics of an index.
 *
 * <p>It has Kafka's settings by their names, of which {@code bootstrap.servers} names servers of
 * the index. Each record is appended once, whatever is repeated, and records of one partition keep
 * their order over fail-overs. The append time of the index replaces the record's own time.
 * Transactions are refused. Thread-safe.
 */
public final class RingProducer<K, V> implements Producer<K, V> {
  private final IndexClient owned; // null: it is the caller's
  private final Topics topics;
  private final TopicSizes sizes;
  private final Serializer<K> keySerializer;
  private final Serializer<V> valueSerializer;
  private final PartitionBatches.Limits limits;
  private final int maxRecordBytes;
  private final int memoryBytes;
  private final long maxBlockMs;
  private final Semaphore memory; // bytes, in the order of requests
  private final Map<String, StickyPartitions> sticky = new ConcurrentHashMap<>();
  private final Map<TopicPartition, PartitionBatches> batches = new ConcurrentHashMap<>();
  private final ScheduledExecutorService lingering;
  private final AtomicReference<State> state = new AtomicReference<>(State.OPEN);

  private enum State {
    OPEN,
    /** It sends what it has, and takes no more. */
    CLOSING,
    CLOSED
  }

  /** A producer with a client of its own, and serializers by their names in the settings. */
  public RingProducer(Map<String, Object> settings) {
    this(settings, null, null, null);
  }

  /**
   * A producer on a client, which stays open.
   *
   * @param client null for one of its own.
   * @param keySerializer null for that in the settings; the same for values.
   */
  public RingProducer(
      Map<String, Object> given,
      IndexClient client,
      Serializer<K> keySerializer,
      Serializer<V> valueSerializer) {
    final Settings settings =
        Settings.producer(given, client != null, keySerializer, valueSerializer);
    this.keySerializer = settings.serializer(keySerializer, true);
    this.valueSerializer = settings.serializer(valueSerializer, false);
    maxBlockMs = settings.getLong(ProducerConfig.MAX_BLOCK_MS_CONFIG);
    owned = client == null ? settings.client(Duration.ofMillis(maxBlockMs)) : null;
    topics = (client == null ? owned : client).topics();
    sizes = new TopicSizes(topics, settings.nanos(ProducerConfig.METADATA_MAX_AGE_CONFIG));
    limits =
        new PartitionBatches.Limits(
            settings.getInt(ProducerConfig.BATCH_SIZE_CONFIG),
            settings.nanos(ProducerConfig.LINGER_MS_CONFIG),
            TimeUnit.MILLISECONDS.toNanos(
                settings.getInt(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG)));
    maxRecordBytes =
        Math.min(
            settings.getInt(ProducerConfig.MAX_REQUEST_SIZE_CONFIG), TopicLog.MAX_RECORD_BYTES);
    memoryBytes =
        (int) Math.min(settings.getLong(ProducerConfig.BUFFER_MEMORY_CONFIG), Integer.MAX_VALUE);
    memory = new Semaphore(memoryBytes, true);
    lingering =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              final Thread thread = new Thread(task, "ring-producer-linger");
              thread.setDaemon(true);
              return thread;
            });
  }

  @Override
  public Future<RecordMetadata> send(ProducerRecord<K, V> record) {
    return send(record, null);
  }

  /**
   * Sends a record.
   *
   * @throws SerializationException if key or value cannot be serialized.
   * @throws InterruptException if the thread is interrupted while it waits for memory.
   * @throws IllegalStateException if the producer is closed.
   */
  @Override
  public Future<RecordMetadata> send(ProducerRecord<K, V> record, Callback callback) {
    ensureOpen();
    final byte[] key =
        serialized(keySerializer, record, record.key(), ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG);
    final byte[] value =
        serialized(
            valueSerializer, record, record.value(), ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG);
    if (record.headers() instanceof RecordHeaders headers) {
      headers.setReadOnly(); // a callback may not change what was sent
    }
    int partition = RecordMetadata.UNKNOWN_PARTITION;
    try {
      final ByteString payload = new Payload(key, value, record.headers()).encoded();
      checkLength(payload);
      partition = partition(record, key, payload.size());
      final TopicPartition place = new TopicPartition(record.topic(), partition);
      final SentRecord sent = new SentRecord(place, callback, key, value);
      add(place, payload, sent);
      return sent;
    } catch (ApiException e) {
      final SentRecord failed =
          new SentRecord(new TopicPartition(record.topic(), partition), callback, key, value);
      failed.failed(e);
      return failed;
    }
  }

  private static <T, K, V> byte[] serialized(
      Serializer<T> serializer, ProducerRecord<K, V> record, T object, String setting) {
    try {
      return serializer.serialize(record.topic(), record.headers(), object);
    } catch (ClassCastException e) {
      throw new SerializationException(
          object.getClass().getName()
              + " cannot be serialized by "
              + serializer.getClass().getName()
              + " of "
              + setting,
          e);
    }
  }

  private void checkLength(ByteString payload) {
    if (payload.size() > maxRecordBytes || payload.size() > memoryBytes) {
      throw new RecordTooLargeException(
          "a record has bytes="
              + payload.size()
              + " limit="
              + maxRecordBytes
              + " "
              + ProducerConfig.BUFFER_MEMORY_CONFIG
              + "="
              + memoryBytes);
    }
  }

  private int partition(ProducerRecord<K, V> record, byte[] key, int length) {
    final int count = sizes.existing(record.topic());
    if (record.partition() != null) {
      if (record.partition() >= count) {
        throw new UnknownTopicOrPartitionException(
            "topic=" + record.topic() + " has partitions=" + count + ", not " + record.partition());
      }
      return record.partition();
    }
    if (key != null) {
      return StickyPartitions.ofKey(key, count);
    }
    return sticky
        .computeIfAbsent(record.topic(), topic -> new StickyPartitions(limits.bytes()))
        .next(length, count);
  }

  private void add(TopicPartition place, ByteString payload, SentRecord sent) {
    try {
      if (!acquire(payload.size())) {
        throw new BufferExhaustedException(
            "no memory for bytes="
                + payload.size()
                + " within "
                + maxBlockMs
                + " ms; "
                + ProducerConfig.BUFFER_MEMORY_CONFIG
                + "="
                + memoryBytes);
      }
    } catch (InterruptedException e) {
      throw new InterruptException(e); // which interrupts the thread again
    }
    final PartitionBatches partition =
        batches.computeIfAbsent(
            place,
            each ->
                new PartitionBatches(
                    topics.log(each.topic(), each.partition()), limits, memory::release));
    boolean added = false;
    try {
      if (partition.add(payload, sent)) {
        final var unused =
            lingering.schedule(partition::send, limits.lingerNs(), TimeUnit.NANOSECONDS);
      }
      added = true;
    } finally {
      if (!added) {
        memory.release(payload.size());
      }
    }
  }

  /** Takes memory; if there is too little, sends what lingers in it. */
  private boolean acquire(int bytes) throws InterruptedException {
    if (memory.tryAcquire(bytes)) {
      return true;
    }
    batches.values().forEach(PartitionBatches::flush);
    return memory.tryAcquire(bytes, maxBlockMs, TimeUnit.MILLISECONDS);
  }

  /**
   * Sends all records that wait, and waits for the ends of all.
   *
   * @throws KafkaException in a callback, which would wait for itself.
   */
  @Override
  public void flush() {
    ensureOpen();
    if (isInCallback()) {
      throw new KafkaException("flush() in a callback would wait for itself");
    }
    try {
      ends().get();
    } catch (InterruptedException e) {
      throw new InterruptException(e);
    } catch (ExecutionException e) {
      throw new IllegalStateException(e); // these futures do not fail
    }
  }

  private CompletableFuture<Void> ends() {
    final List<CompletableFuture<Void>> all = new ArrayList<>();
    batches.values().forEach(each -> all.addAll(each.flush()));
    return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new));
  }

  private boolean isInCallback() {
    return batches.values().stream().anyMatch(PartitionBatches::isInCallback);
  }

  @Override
  public List<PartitionInfo> partitionsFor(String topic) {
    ensureOpen();
    return sizes.partitions(topic);
  }

  /** Returns none: the index's client counts its operations. */
  @Override
  public Map<MetricName, ? extends Metric> metrics() {
    return Map.of();
  }

  private void ensureOpen() {
    if (state.get() != State.OPEN) {
      throw new IllegalStateException("the producer is closed");
    }
  }

  @Override
  public void close() {
    close(Duration.ofMillis(Long.MAX_VALUE));
  }

  /** Sends what it has, for so long at most; fails the rest. In a callback it does not wait. */
  @Override
  public void close(Duration timeout) {
    if (timeout.isNegative()) {
      throw new IllegalArgumentException("timeout=" + timeout + " is negative");
    }
    if (!state.compareAndSet(State.OPEN, State.CLOSING)) {
      return;
    }
    final long waitMs = isInCallback() ? 0 : timeout.toMillis();
    InterruptedException interrupted = null;
    try {
      ends().get(waitMs, TimeUnit.MILLISECONDS);
    } catch (java.util.concurrent.TimeoutException e) {
      // The rest is failed below.
    } catch (InterruptedException e) {
      interrupted = e;
    } catch (ExecutionException e) {
      throw new IllegalStateException(e); // these futures do not fail
    }
    lingering.shutdownNow();
    final KafkaException reason =
        new KafkaException("the producer was closed before the record was appended");
    batches.values().forEach(each -> each.close(reason));
    keySerializer.close();
    valueSerializer.close();
    if (owned != null) {
      owned.close();
    }
    state.set(State.CLOSED);
    if (interrupted != null) {
      throw new InterruptException(interrupted);
    }
  }

  @Override
  public void initTransactions() {
    throw Refusals.of("initTransactions", Refusals.TRANSACTIONS);
  }

  @Override
  public void beginTransaction() {
    throw Refusals.of("beginTransaction", Refusals.TRANSACTIONS);
  }

  @Override
  public void sendOffsetsToTransaction(
      Map<TopicPartition, OffsetAndMetadata> offsets, ConsumerGroupMetadata group) {
    throw Refusals.of("sendOffsetsToTransaction", Refusals.TRANSACTIONS);
  }

  @Override
  public void commitTransaction() {
    throw Refusals.of("commitTransaction", Refusals.TRANSACTIONS);
  }

  @Override
  public void abortTransaction() {
    throw Refusals.of("abortTransaction", Refusals.TRANSACTIONS);
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
