package dev.ringfetch.examples.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.client.IndexClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The contract of Kafka's producers. */
@Timeout(60)
final class ProducerTest {
  @TempDir private Path directory;
  private TestBroker broker;

  @BeforeEach
  void start() throws Exception {
    broker = new TestBroker(directory);
    broker.topic("t", 4);
  }

  @AfterEach
  void stop() {
    broker.close();
  }

  private static RecordMetadata get(Future<RecordMetadata> sent) throws Exception {
    return sent.get(20, TimeUnit.SECONDS);
  }

  private static Throwable failure(Future<RecordMetadata> sent) {
    return assertThrows(ExecutionException.class, () -> get(sent)).getCause();
  }

  private List<ConsumerRecord<String, String>> read(int partition, int count) {
    try (RingConsumer<String, String> consumer = broker.consumer()) {
      consumer.assign(List.of(new TopicPartition("t", partition)));
      return TestBroker.poll(consumer, count);
    }
  }

  @Test
  void arrivesWithAllItsParts() throws Exception {
    final long beginMs = System.currentTimeMillis();
    try (RingProducer<String, String> producer = broker.producer()) {
      final ProducerRecord<String, String> record = new ProducerRecord<>("t", 2, "key", "value");
      record.headers().add("h", "content".getBytes(StandardCharsets.UTF_8)).add("h", null);
      final RecordMetadata sent = get(producer.send(record));
      assertEquals(2, sent.partition());
      get(producer.send(new ProducerRecord<>("t", 2, null, null)));
      final List<ConsumerRecord<String, String>> read = read(2, 2);
      assertEquals(sent.offset(), read.get(0).offset());
      assertEquals("key", read.get(0).key());
      assertEquals("value", read.get(0).value());
      assertEquals(2, read.get(0).headers().toArray().length);
      assertNull(read.get(0).headers().lastHeader("h").value());
      assertEquals(TimestampType.LOG_APPEND_TIME, read.get(0).timestampType());
      assertTrue(read.get(0).timestamp() >= beginMs, () -> "time=" + read.get(0).timestamp());
      assertEquals(read.get(0).timestamp(), sent.timestamp());
      assertNull(read.get(1).key());
      assertNull(read.get(1).value());
      assertTrue(read.get(1).offset() > read.get(0).offset());
    }
  }

  @Test
  void choosesThePartitionOfAKeyAsKafkaDoes() throws Exception {
    try (RingProducer<String, String> producer = broker.producer()) {
      for (int i = 0; i < 50; i++) {
        final String key = "key-" + i;
        assertEquals(
            BuiltInPartitioner.partitionForKey(key.getBytes(StandardCharsets.UTF_8), 4),
            get(producer.send(new ProducerRecord<>("t", key, ""))).partition());
      }
    }
  }

  @Test
  void staysAtAPartitionWithoutKeysUntilABatchIsFull() throws Exception {
    try (RingProducer<String, String> producer =
        broker.producer(ProducerConfig.BATCH_SIZE_CONFIG, 1_000)) {
      final List<Integer> partitions = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        partitions.add(get(producer.send(new ProducerRecord<>("t", "x".repeat(89)))).partition());
      }
      for (int i = 0; i < 40; i += 10) {
        assertEquals(
            1, partitions.subList(i, i + 10).stream().distinct().count(), partitions::toString);
      }
      assertTrue(partitions.stream().distinct().count() > 1, partitions::toString);
    }
  }

  @Test
  void keepsTheOrderOfRecordsAndCallbacks() {
    final List<Long> offsets = new ArrayList<>();
    try (RingProducer<String, String> producer =
        broker.producer(ProducerConfig.BATCH_SIZE_CONFIG, 200)) {
      for (int i = 0; i < 2_000; i++) {
        final var unused =
            producer.send(
                new ProducerRecord<>("t", 1, "k", Integer.toString(i)),
                (metadata, failure) -> offsets.add(metadata.offset()));
      }
    }
    assertEquals(2_000, offsets.size());
    assertEquals(offsets.stream().sorted().distinct().toList(), offsets);
    final List<ConsumerRecord<String, String>> read = read(1, 2_000);
    for (int i = 0; i < 2_000; i++) {
      assertEquals(Integer.toString(i), read.get(i).value());
      assertEquals(offsets.get(i), read.get(i).offset());
    }
  }

  @Test
  void lingersUntilItIsFlushed() throws Exception {
    try (RingProducer<String, String> producer =
        broker.producer(
            ProducerConfig.LINGER_MS_CONFIG, 60_000,
            ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, 120_000)) {
      final Future<RecordMetadata> sent = producer.send(new ProducerRecord<>("t", "v"));
      assertThrows(
          java.util.concurrent.TimeoutException.class, () -> sent.get(200, TimeUnit.MILLISECONDS));
      assertFalse(sent.cancel(true));
      producer.flush();
      assertTrue(sent.isDone());
    }
  }

  @Test
  void goesAfterTheLingerTime() throws Exception {
    try (RingProducer<String, String> producer =
        broker.producer(ProducerConfig.LINGER_MS_CONFIG, 50)) {
      get(producer.send(new ProducerRecord<>("t", "warm")));
      final long beginNs = System.nanoTime();
      get(producer.send(new ProducerRecord<>("t", "v")));
      assertTrue(System.nanoTime() - beginNs >= TimeUnit.MILLISECONDS.toNanos(49));
    }
  }

  @Test
  void sendsWhatLingersWhereMemoryIsShort() throws Exception {
    try (RingProducer<String, String> producer =
        broker.producer(
            ProducerConfig.LINGER_MS_CONFIG, 60_000,
            ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, 120_000,
            ProducerConfig.BUFFER_MEMORY_CONFIG, 1_000L)) {
      final Future<RecordMetadata> first =
          producer.send(new ProducerRecord<>("t", "x".repeat(600)));
      final Future<RecordMetadata> second =
          producer.send(new ProducerRecord<>("t", "x".repeat(600)));
      get(first);
      producer.flush();
      assertTrue(second.isDone());
    }
  }

  @Test
  void blocksNoLongerThanItMayForMemory() throws Exception {
    try (RingProducer<String, String> producer =
        broker.producer(
            ProducerConfig.BUFFER_MEMORY_CONFIG,
            1_000L,
            ProducerConfig.MAX_BLOCK_MS_CONFIG,
            300L,
            ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG,
            1_000,
            ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG,
            3_000)) {
      get(producer.send(new ProducerRecord<>("t", "x")));
      broker.stop();
      final Future<RecordMetadata> kept = producer.send(new ProducerRecord<>("t", "x".repeat(600)));
      final long beginNs = System.nanoTime();
      assertInstanceOf(
          TimeoutException.class,
          failure(producer.send(new ProducerRecord<>("t", "x".repeat(600)))));
      assertTrue(System.nanoTime() - beginNs >= TimeUnit.MILLISECONDS.toNanos(299));
      Thread.currentThread().interrupt();
      assertThrows(
          InterruptException.class,
          () -> producer.send(new ProducerRecord<>("t", "x".repeat(600))));
      assertTrue(Thread.interrupted());
      assertInstanceOf(TimeoutException.class, failure(kept)); // the delivery timeout
    }
  }

  @Test
  void takesNoMoreThanItsMemoryWhileACallbackIsSlow() throws Exception {
    final CountDownLatch goesOn = new CountDownLatch(1);
    try (RingProducer<String, String> producer =
        broker.producer(
            ProducerConfig.BATCH_SIZE_CONFIG, 300,
            ProducerConfig.BUFFER_MEMORY_CONFIG, 1_000L,
            ProducerConfig.MAX_BLOCK_MS_CONFIG, 500L)) {
      final List<Future<RecordMetadata>> sent = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        sent.add(
            producer.send(
                new ProducerRecord<>("t", 0, "k", "x".repeat(250)),
                (metadata, failure) -> {
                  if (failure == null) { // on a thread of the client
                    awaitQuietly(goesOn);
                  }
                }));
        if (sent.get(i).isDone()) {
          break; // refused: there is no memory
        }
      }
      final int taken = sent.size() - 1;
      assertTrue(taken < 10, () -> "taken=" + taken);
      assertInstanceOf(TimeoutException.class, failure(sent.get(taken)));
      goesOn.countDown();
      for (final Future<RecordMetadata> each : sent.subList(0, taken)) {
        get(each);
      }
    } finally {
      goesOn.countDown();
    }
  }

  @Test
  void aFlushWaitsForTheCallbacksThatRun() throws Exception {
    final CountDownLatch begun = new CountDownLatch(1);
    final CountDownLatch goesOn = new CountDownLatch(1);
    try (RingProducer<String, String> producer = broker.producer()) {
      final var unused =
          producer.send(
              new ProducerRecord<>("t", 0, "k", "v"),
              (metadata, failure) -> {
                begun.countDown();
                awaitQuietly(goesOn);
              });
      assertTrue(begun.await(20, TimeUnit.SECONDS));
      final CompletableFuture<Void> flush = CompletableFuture.runAsync(producer::flush);
      assertThrows(
          java.util.concurrent.TimeoutException.class, () -> flush.get(200, TimeUnit.MILLISECONDS));
      goesOn.countDown();
      flush.get(20, TimeUnit.SECONDS);
    } finally {
      goesOn.countDown();
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await(20, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void knowsTopicsWhileNoServerAnswers() throws Exception {
    try (IndexClient impatient = broker.client(Duration.ofSeconds(2))) {
      final TopicSizes sizes = new TopicSizes(impatient.topics(), 0);
      assertEquals(4, sizes.count("t"));
      broker.stop();
      assertEquals(4, sizes.count("t"));
    }
  }

  @Test
  void refusesLongRecords() throws Exception {
    final AtomicReference<Exception> called = new AtomicReference<>();
    try (RingProducer<String, String> producer =
        broker.producer(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, 1_000)) {
      final Throwable failure =
          failure(
              producer.send(
                  new ProducerRecord<>("t", "x".repeat(1_000)), (none, e) -> called.set(e)));
      assertInstanceOf(RecordTooLargeException.class, failure);
      assertEquals(failure, called.get());
      get(producer.send(new ProducerRecord<>("t", "x".repeat(900))));
    }
    try (RingProducer<String, String> producer =
        broker.producer(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, 1 << 24)) {
      assertInstanceOf(
          RecordTooLargeException.class,
          failure(producer.send(new ProducerRecord<>("t", "x".repeat(2 << 20)))));
      get(producer.send(new ProducerRecord<>("t", "x".repeat((1 << 20) - 100))));
    }
  }

  @Test
  void refusesWhatItCannotSerialize() {
    try (RingProducer<Object, String> producer = raw()) {
      assertThrows(
          SerializationException.class, () -> producer.send(new ProducerRecord<>("t", 1, "v")));
    }
  }

  @SuppressWarnings("unchecked") // the user's mistake
  private RingProducer<Object, String> raw() {
    return (RingProducer<Object, String>) (RingProducer<?, ?>) broker.producer();
  }

  @Test
  void knowsItsTopics() {
    try (RingProducer<String, String> producer = broker.producer()) {
      assertEquals(4, producer.partitionsFor("t").size());
      assertThrows(UnknownTopicOrPartitionException.class, () -> producer.partitionsFor("none"));
      assertInstanceOf(
          UnknownTopicOrPartitionException.class,
          failure(producer.send(new ProducerRecord<>("none", "v"))));
      assertInstanceOf(
          UnknownTopicOrPartitionException.class,
          failure(producer.send(new ProducerRecord<>("t", 4, "k", "v"))));
    }
  }

  @Test
  void takesNothingAfterItsEnd() throws Exception {
    final RingProducer<String, String> producer =
        broker.producer(
            ProducerConfig.LINGER_MS_CONFIG, 60_000,
            ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, 120_000);
    final Future<RecordMetadata> sent = producer.send(new ProducerRecord<>("t", "v"));
    producer.close();
    get(sent); // it was sent by the end
    producer.close();
    assertThrows(IllegalStateException.class, () -> producer.send(new ProducerRecord<>("t", "v")));
    assertThrows(IllegalStateException.class, producer::flush);
  }

  @Test
  void failsWhatItCannotSendInTimeAtItsEnd() {
    final RingProducer<String, String> producer = broker.producer();
    producer.partitionsFor("t");
    broker.stop();
    final Future<RecordMetadata> sent = producer.send(new ProducerRecord<>("t", "v"));
    producer.close(Duration.ofMillis(100));
    assertTrue(sent.isDone());
    assertInstanceOf(KafkaException.class, failure(sent));
  }

  @Test
  void mayBeClosedAndUsedInACallbackButNotFlushed() throws Exception {
    final RingProducer<String, String> producer = broker.producer();
    final AtomicReference<Exception> flushed = new AtomicReference<>();
    final AtomicReference<Future<RecordMetadata>> second = new AtomicReference<>();
    final CountDownLatch done = new CountDownLatch(1);
    final var unused =
        producer.send(
            new ProducerRecord<>("t", 0, "k", "v"),
            (metadata, failure) -> {
              flushed.set(assertThrows(KafkaException.class, producer::flush));
              second.set(producer.send(new ProducerRecord<>("t", 1, "k", "v")));
              producer.close();
              done.countDown();
            });
    assertTrue(done.await(20, TimeUnit.SECONDS));
    assertTrue(second.get().isDone());
  }

  @Test
  void refusesTransactionsAndWhatItDoesNotKeep() {
    try (RingProducer<String, String> producer = broker.producer()) {
      assertThrows(UnsupportedOperationException.class, producer::initTransactions);
      assertThrows(UnsupportedOperationException.class, producer::beginTransaction);
      assertThrows(UnsupportedOperationException.class, producer::commitTransaction);
      assertThrows(UnsupportedOperationException.class, producer::abortTransaction);
      assertThrows(
          UnsupportedOperationException.class,
          () -> producer.sendOffsetsToTransaction(Map.of(), null));
    }
    for (final String name :
        List.of(
            ProducerConfig.TRANSACTIONAL_ID_CONFIG,
            ProducerConfig.COMPRESSION_TYPE_CONFIG,
            ProducerConfig.INTERCEPTOR_CLASSES_CONFIG,
            ProducerConfig.PARTITIONER_CLASS_CONFIG)) {
      assertThrows(ConfigException.class, () -> broker.producer(name, "lz4"), name);
    }
    assertThrows(
        ConfigException.class,
        () -> new RingProducer<>(Map.of(), null, new StringSerializer(), new StringSerializer()));
  }
}
