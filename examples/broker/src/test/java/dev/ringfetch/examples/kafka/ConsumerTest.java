package dev.ringfetch.examples.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.client.IndexClient;
import dev.ringfetch.index.client.TopicCommits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.ConcurrentModificationException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.NoOffsetForPartitionException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidGroupIdException;
import org.apache.kafka.common.errors.RecordDeserializationException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The contract of Kafka's consumers that are assigned partitions by the application. */
@Timeout(60)
final class ConsumerTest {
  private static final TopicPartition ZERO = new TopicPartition("t", 0);
  private static final TopicPartition ONE = new TopicPartition("t", 1);

  @TempDir private Path directory;
  private TestBroker broker;

  @BeforeEach
  void start() throws Exception {
    broker = new TestBroker(directory);
    broker.topic("t", 2);
  }

  @AfterEach
  void stop() {
    broker.close();
  }

  /** Sends values 0 to count - 1 to a partition; returns their offsets. */
  private List<Long> send(TopicPartition place, int count) throws Exception {
    final List<Long> offsets = new ArrayList<>();
    try (RingProducer<String, String> producer = broker.producer()) {
      for (int i = 0; i < count; i++) {
        offsets.add(
            producer
                .send(
                    new ProducerRecord<>(
                        place.topic(), place.partition(), "k", Integer.toString(i)))
                .get(20, TimeUnit.SECONDS)
                .offset());
      }
    }
    return offsets;
  }

  private RingConsumer<String, String> assigned(Object... settings) {
    final RingConsumer<String, String> consumer = broker.consumer(settings);
    consumer.assign(List.of(ZERO, ONE));
    return consumer;
  }

  private static List<String> values(List<ConsumerRecord<String, String>> records) {
    return records.stream().map(ConsumerRecord::value).toList();
  }

  private void createAgain() {
    broker.client.topics().delete("t");
    broker.topic("t", 2);
  }

  @Test
  void readsATopicThatWasCreatedAgainFromItsBeginWhereItEndsBefore() throws Exception {
    send(ZERO, 5);
    try (RingConsumer<String, String> consumer = assigned();
        RingConsumer<String, String> latest =
            assigned(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "latest")) {
      latest.seekToBeginning(List.of());
      assertEquals(5, TestBroker.poll(consumer, 5).size());
      assertEquals(5, TestBroker.poll(latest, 5).size());
      createAgain();
      send(ZERO, 2);
      assertEquals(List.of("0", "1"), values(TestBroker.poll(consumer, 2)));
      assertTrue(latest.poll(Duration.ofMillis(20)).isEmpty());
      send(ZERO, 1);
      assertEquals(1, TestBroker.poll(consumer, 1).size());
      assertEquals(1, TestBroker.poll(latest, 1).size());
    }
  }

  @Test
  void goesOnInATopicThatWasCreatedAgain() throws Exception {
    final long end = send(ZERO, 5).get(4) + 1;
    final List<String> warnings = new CopyOnWriteArrayList<>();
    final Handler handler = warningsInto(warnings);
    try (RingConsumer<String, String> consumer = assigned()) {
      assertEquals(5, TestBroker.poll(consumer, 5).size());
      createAgain();
      final List<Long> offsets = send(ZERO, 7);
      assertEquals(List.of(end, end + 1), offsets.subList(5, 7));
      assertEquals(List.of("5", "6"), values(TestBroker.poll(consumer, 2)));
      createAgain();
      send(ZERO, 7); // to where it stands
      assertTrue(consumer.poll(Duration.ofMillis(20)).isEmpty());
      send(ZERO, 1);
      assertEquals(List.of("0"), values(TestBroker.poll(consumer, 1)));
      assertEquals(end + 2, consumer.position(ZERO) - 1);
      assertEquals(List.of(), warnings);
    } finally {
      Logger.getLogger(RingConsumer.class.getName()).removeHandler(handler);
    }
  }

  @Test
  void goesOnWithATopicThatWasDeletedWhenItIsCreatedAgain() throws Exception {
    send(ZERO, 5);
    final List<String> warnings = new CopyOnWriteArrayList<>();
    final Handler handler = warningsInto(warnings);
    try (RingConsumer<String, String> consumer = assigned()) {
      assertEquals(5, TestBroker.poll(consumer, 5).size());
      broker.client.topics().delete("t");
      for (int i = 0; i < 5; i++) {
        assertTrue(consumer.poll(Duration.ofMillis(20)).isEmpty());
      }
      assertEquals(
          2, warnings.stream().filter(each -> each.contains("there is no partition t-")).count());
      broker.topic("t", 2);
      send(ZERO, 2);
      assertEquals(List.of("0", "1"), values(TestBroker.poll(consumer, 2)));
      assertTrue(warnings.stream().anyMatch(each -> each.contains("t-0 was created again")));
    } finally {
      Logger.getLogger(RingConsumer.class.getName()).removeHandler(handler);
    }
  }

  @Test
  void readsALongerTopicFromItsBeginWhereItSawTheEndOfTheFormer() throws Exception {
    final Object[] group = {ConsumerConfig.GROUP_ID_CONFIG, "g"};
    send(ZERO, 2);
    try (RingConsumer<String, String> consumer = assigned(group)) {
      assertEquals(2, TestBroker.poll(consumer, 2).size());
      consumer.commitSync();
      assertEquals(Set.of(ZERO, ONE), committed());
      broker.client.topics().delete("t");
      assertEquals(Set.of(), committed());
      assertTrue(consumer.poll(Duration.ofMillis(20)).isEmpty());
      consumer.commitSync(); // nothing is there
      assertEquals(Set.of(), committed());
      broker.topic("t", 2);
      send(ZERO, 5);
      assertEquals(List.of("0", "1", "2", "3", "4"), values(TestBroker.poll(consumer, 5)));
      consumer.commitSync();
    }
    try (RingConsumer<String, String> consumer = assigned(group)) {
      assertTrue(consumer.poll(Duration.ofMillis(20)).isEmpty());
    }
  }

  @Test
  void aPositionThatWasReadNothingFromIsResetToo() throws Exception {
    final Object[] group = {ConsumerConfig.GROUP_ID_CONFIG, "g"};
    final long second = send(ZERO, 2).get(1);
    try (RingConsumer<String, String> consumer = assigned(group);
        RingConsumer<String, String> latest =
            assigned(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "latest")) {
      consumer.commitSync(Map.of(ZERO, new OffsetAndMetadata(second)));
      assertEquals(second, consumer.position(ZERO));
      broker.client.topics().delete("t");
      assertTrue(consumer.poll(Duration.ofMillis(20)).isEmpty());
      assertTrue(latest.poll(Duration.ofMillis(20)).isEmpty());
      broker.topic("t", 2);
      send(ZERO, 5);
      assertEquals(List.of("0", "1", "2", "3", "4"), values(TestBroker.poll(consumer, 5)));
      assertEquals(5, TestBroker.poll(latest, 5).size(), "it has waited for the topic");
    }
  }

  /** The partitions for which group g has commits. */
  private Set<TopicPartition> committed() {
    return broker.client.topics().commits().index().keys().stream()
        .map(key -> new TopicPartition("t", Integer.parseInt(key.substring(key.length() - 1))))
        .collect(Collectors.toSet());
  }

  private static Handler warningsInto(List<String> warnings) {
    final Handler handler =
        new Handler() {
          @Override
          public void publish(LogRecord record) {
            warnings.add(new SimpleFormatter().formatMessage(record));
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    Logger.getLogger(RingConsumer.class.getName()).addHandler(handler);
    return handler;
  }

  @Test
  void aTopicThatWasCreatedAgainFailsWithoutAReset() throws Exception {
    send(ZERO, 5);
    try (RingConsumer<String, String> consumer =
        assigned(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none")) {
      consumer.seekToBeginning(List.of());
      assertEquals(5, TestBroker.poll(consumer, 5).size());
      createAgain();
      send(ZERO, 2);
      for (int i = 0; i < 2; i++) { // until the application seeks
        final OffsetOutOfRangeException thrown =
            assertThrows(
                OffsetOutOfRangeException.class, () -> consumer.poll(Duration.ofSeconds(20)));
        assertEquals(Set.of(ZERO), thrown.partitions());
      }
      consumer.seekToBeginning(List.of(ZERO));
      assertEquals(2, TestBroker.poll(consumer, 2).size());
    }
  }

  @Test
  void readsNothingOfATopicThatIsCreatedAgainWithinTheRead() throws Exception {
    send(ZERO, 300); // more than a page
    final AtomicInteger pages = new AtomicInteger();
    try (IndexClient client = broker.callingClient();
        RingConsumer<String, String> consumer =
            new RingConsumer<>(
                Map.of(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest"),
                client,
                new StringDeserializer(),
                new StringDeserializer())) {
      consumer.assign(List.of(ZERO));
      assertEquals(1, consumer.position(ZERO));
      broker.beforePage =
          () -> {
            if (pages.incrementAndGet() == 2) {
              createAgain();
            }
          };
      assertTrue(consumer.poll(Duration.ZERO).isEmpty());
      assertTrue(pages.get() >= 2);
      send(ZERO, 2);
      assertEquals(List.of("0", "1"), values(TestBroker.poll(consumer, 2)));
    }
  }

  @Test
  void waitsAtACommitBeyondTheEnd() throws Exception {
    final Object[] group = {ConsumerConfig.GROUP_ID_CONFIG, "g"};
    final long last = send(ZERO, 2).get(1);
    final List<String> warnings = new CopyOnWriteArrayList<>();
    final Handler handler = warningsInto(warnings);
    try (RingConsumer<String, String> consumer = assigned(group)) {
      consumer.commitSync(Map.of(ZERO, new OffsetAndMetadata(last + 3)));
      for (int i = 0; i < 5; i++) {
        assertTrue(consumer.poll(Duration.ofMillis(20)).isEmpty());
      }
      assertEquals(1, warnings.size(), warnings::toString);
      assertTrue(warnings.get(0).contains("offset=" + (last + 3) + " is beyond the end"));
      send(ZERO, 4);
      assertEquals(List.of("2", "3"), values(TestBroker.poll(consumer, 2)));
    } finally {
      Logger.getLogger(RingConsumer.class.getName()).removeHandler(handler);
    }
  }

  @Test
  void readsAllPartitionsInOrder() throws Exception {
    send(ZERO, 700);
    send(ONE, 20);
    try (RingConsumer<String, String> consumer = assigned()) {
      assertEquals(Set.of(ZERO, ONE), consumer.assignment());
      final Map<TopicPartition, List<String>> read = new HashMap<>();
      for (final ConsumerRecord<String, String> each : TestBroker.poll(consumer, 720)) {
        read.computeIfAbsent(
                new TopicPartition(each.topic(), each.partition()), place -> new ArrayList<>())
            .add(each.value());
      }
      for (int i = 0; i < 700; i++) {
        assertEquals(Integer.toString(i), read.get(ZERO).get(i));
      }
      assertEquals(20, read.get(ONE).size());
      assertTrue(consumer.poll(Duration.ZERO).isEmpty());
      assertEquals(OptionalLong.of(0), consumer.currentLag(ZERO));
    }
  }

  @Test
  void returnsNoMoreThanItMay() throws Exception {
    send(ZERO, 30);
    try (RingConsumer<String, String> consumer =
        assigned(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, 7)) {
      final List<Integer> counts = new ArrayList<>();
      for (int all = 0; all < 30; ) {
        final int count = consumer.poll(Duration.ofSeconds(5)).count();
        counts.add(count);
        all += count;
      }
      assertEquals(List.of(7, 7, 7, 7, 2), counts);
    }
  }

  @Test
  void waitsForRecordsThatComeLater() throws Exception {
    try (RingConsumer<String, String> consumer = assigned()) {
      assertTrue(consumer.poll(Duration.ofMillis(50)).isEmpty());
      for (int i = 0; i < 3; i++) {
        final CompletableFuture<List<Long>> sent =
            CompletableFuture.supplyAsync(
                () -> {
                  try {
                    TimeUnit.MILLISECONDS.sleep(200);
                    return send(ONE, 1);
                  } catch (Exception e) {
                    throw new IllegalStateException(e);
                  }
                });
        assertEquals(1, consumer.poll(Duration.ofSeconds(20)).count());
        sent.get(20, TimeUnit.SECONDS);
      }
    }
  }

  @Test
  void seeks() throws Exception {
    final List<Long> offsets = send(ZERO, 10);
    try (RingConsumer<String, String> consumer = assigned()) {
      assertEquals(Map.of(ZERO, offsets.get(0)), consumer.beginningOffsets(List.of(ZERO)));
      assertEquals(Map.of(ZERO, offsets.get(9) + 1), consumer.endOffsets(List.of(ZERO)));
      consumer.seek(ZERO, offsets.get(8));
      assertEquals(List.of("8", "9"), values(TestBroker.poll(consumer, 2)));
      assertEquals(offsets.get(9) + 1, consumer.position(ZERO));
      consumer.seekToBeginning(List.of(ZERO));
      assertEquals(10, TestBroker.poll(consumer, 10).size());
      consumer.seekToEnd(List.of());
      assertTrue(consumer.poll(Duration.ofMillis(20)).isEmpty());
      assertThrows(IllegalStateException.class, () -> consumer.seek(new TopicPartition("t", 7), 1));
      assertThrows(IllegalArgumentException.class, () -> consumer.seek(ZERO, -1));
    }
  }

  @Test
  void findsOffsetsByTime() throws Exception {
    send(ZERO, 3);
    TimeUnit.MILLISECONDS.sleep(20);
    final long timeMs = System.currentTimeMillis();
    final List<Long> later = send(ZERO, 3);
    try (RingConsumer<String, String> consumer = assigned()) {
      final Map<TopicPartition, OffsetAndTimestamp> found =
          consumer.offsetsForTimes(Map.of(ZERO, timeMs, ONE, timeMs));
      assertEquals(later.get(0), found.get(ZERO).offset());
      assertTrue(found.get(ZERO).timestamp() >= timeMs);
      assertNull(found.get(ONE));
    }
  }

  @Test
  void pauses() throws Exception {
    send(ZERO, 2);
    send(ONE, 3);
    try (RingConsumer<String, String> consumer = assigned()) {
      consumer.pause(List.of(ZERO));
      assertEquals(Set.of(ZERO), consumer.paused());
      TestBroker.poll(consumer, 3).forEach(each -> assertEquals(1, each.partition()));
      assertTrue(consumer.poll(Duration.ofMillis(20)).isEmpty());
      consumer.resume(List.of(ZERO));
      assertEquals(2, TestBroker.poll(consumer, 2).size());
    }
  }

  @Test
  void beginsAsItsSettingSays() throws Exception {
    send(ZERO, 2);
    try (RingConsumer<String, String> latest =
            assigned(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "latest");
        RingConsumer<String, String> none =
            assigned(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none")) {
      assertTrue(latest.poll(Duration.ofMillis(20)).isEmpty());
      send(ZERO, 1);
      assertEquals(1, TestBroker.poll(latest, 1).size());
      assertThrows(NoOffsetForPartitionException.class, () -> none.poll(Duration.ofMillis(20)));
    }
    assertThrows(
        ConfigException.class,
        () -> broker.consumer(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "by_duration:PT1H"));
  }

  @Test
  void goesOnAtItsCommits() throws Exception {
    final List<Long> offsets = send(ZERO, 10);
    try (RingConsumer<String, String> consumer =
        assigned(ConsumerConfig.GROUP_ID_CONFIG, "g", ConsumerConfig.MAX_POLL_RECORDS_CONFIG, 4)) {
      assertNull(consumer.committed(Set.of(ZERO)).get(ZERO));
      assertEquals(4, TestBroker.poll(consumer, 4).size());
      consumer.commitSync();
      assertEquals(offsets.get(3) + 1, consumer.committed(Set.of(ZERO)).get(ZERO).offset());
      final CountDownLatch called = new CountDownLatch(1);
      consumer.commitAsync(
          Map.of(ZERO, new OffsetAndMetadata(offsets.get(6), "note")),
          (all, failure) -> {
            assertNull(failure);
            called.countDown();
          });
      final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
      while (called.getCount() > 0 && System.nanoTime() - endNs < 0) {
        consumer.poll(Duration.ofMillis(10));
      }
      assertEquals("note", consumer.committed(Set.of(ZERO)).get(ZERO).metadata());
    }
    try (RingConsumer<String, String> next = assigned(ConsumerConfig.GROUP_ID_CONFIG, "g")) {
      assertEquals("6", TestBroker.poll(next, 4).get(0).value());
    }
  }

  @Test
  void commitsByItself() throws Exception {
    send(ZERO, 5);
    final Object[] settings = {
      ConsumerConfig.GROUP_ID_CONFIG,
      "g",
      ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG,
      true,
      ConsumerConfig.AUTO_COMMIT_INTERVAL_MS_CONFIG,
      20
    };
    try (RingConsumer<String, String> consumer = assigned(settings)) {
      TestBroker.poll(consumer, 5);
      final OffsetAndMetadata all = new OffsetAndMetadata(consumer.position(ZERO));
      final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
      while (!all.equals(consumer.committed(Set.of(ZERO)).get(ZERO))) {
        assertTrue(System.nanoTime() - endNs < 0, "nothing was committed for 20 s");
        consumer.poll(Duration.ofMillis(10));
      }
      send(ZERO, 2);
      TestBroker.poll(consumer, 2);
    } // its end commits the rest
    try (RingConsumer<String, String> next = assigned(settings)) {
      assertTrue(next.poll(Duration.ofMillis(50)).isEmpty());
    }
  }

  @Test
  void stopsBeforeARecordThatIsNotLegible() throws Exception {
    final List<Long> offsets = send(ZERO, 1);
    try (RingConsumer<String, Long> consumer =
        new RingConsumer<>(
            Map.of(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest"),
            broker.client,
            new StringDeserializer(),
            new LongDeserializer())) {
      consumer.assign(List.of(ZERO));
      for (int i = 0; i < 2; i++) {
        final RecordDeserializationException e =
            assertThrows(
                RecordDeserializationException.class, () -> consumer.poll(Duration.ofSeconds(5)));
        assertEquals(offsets.get(0), e.offset());
        assertEquals(ZERO, e.topicPartition());
        assertEquals(
            RecordDeserializationException.DeserializationExceptionOrigin.VALUE, e.origin());
      }
      consumer.seek(ZERO, offsets.get(0) + 1);
      assertTrue(consumer.poll(Duration.ofMillis(20)).isEmpty());
    }
  }

  /** A deserializer of strings that fails at "5" as often as there are failures. */
  private static final class Failing extends StringDeserializer {
    private final Queue<Throwable> failures = new ArrayDeque<>();

    @Override
    public String deserialize(String topic, Headers headers, byte[] data) {
      final String value = super.deserialize(topic, headers, data);
      if (value.equals("5") && !failures.isEmpty()) {
        final Throwable next = failures.remove();
        if (next instanceof Error error) {
          throw error;
        }
        throw new SerializationException(next);
      }
      return value;
    }
  }

  @Test
  void losesNothingOfAPartitionBesideOneThatFails() throws Exception {
    send(ZERO, 5);
    send(ONE, 6);
    final Failing failing = new Failing();
    try (RingConsumer<String, String> consumer =
        new RingConsumer<>(
            Map.of(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest"),
            broker.client,
            new StringDeserializer(),
            failing)) {
      consumer.assign(List.of(ZERO, ONE));
      assertEquals(consumer.position(ZERO), consumer.position(ONE));
      for (int i = 0; i < 2; i++) { // each partition is the first of a poll
        failing.failures.add(new OutOfMemoryError("of the test"));
        assertThrows(OutOfMemoryError.class, () -> consumer.poll(Duration.ZERO));
      }
      failing.failures.addAll(Collections.nCopies(3, new Exception("of the test")));
      assertEquals(10, consumer.poll(Duration.ZERO).count()); // all others
      send(ZERO, 2);
      assertEquals(2, consumer.poll(Duration.ZERO).count()); // of the first partition
      assertThrows(RecordDeserializationException.class, () -> consumer.poll(Duration.ZERO));
      assertEquals("5", TestBroker.poll(consumer, 1).get(0).value());
    }
  }

  @Test
  void goesOnAtTheFirstRecordWhereThoseBeforeWereRemoved() throws Exception {
    try (RingConsumer<String, String> latest =
            assigned(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "latest");
        RingConsumer<String, String> none =
            assigned(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none")) {
      latest.seekToEnd(List.of());
      none.seekToEnd(List.of());
      send(ZERO, 3);
      TestBroker.poll(latest, 3);
      broker.removeRecords("t", 0);
      send(ZERO, 4); // behind a gap
      assertEquals(List.of("0", "1", "2", "3"), values(TestBroker.poll(latest, 4)));
      assertEquals(4, TestBroker.poll(none, 4).size()); // it has missed three
    }
  }

  @Test
  void callsBackBeforeItsEnd() throws Exception {
    final List<Long> offsets = send(ZERO, 1);
    final List<Exception> failures = new ArrayList<>();
    final RingConsumer<String, String> consumer = assigned(ConsumerConfig.GROUP_ID_CONFIG, "g");
    consumer.commitAsync(
        Map.of(ZERO, new OffsetAndMetadata(offsets.get(0))),
        (all, failure) -> failures.add(failure));
    consumer.close();
    assertEquals(Collections.singletonList(null), failures);
  }

  @Test
  @Timeout(30)
  void callsBackAtItsEndWithoutAServer() {
    final Map<Long, Exception> failures = new HashMap<>();
    final RingConsumer<String, String> consumer = assigned(ConsumerConfig.GROUP_ID_CONFIG, "g");
    broker.stop();
    for (long i = 1; i <= 3; i++) { // the first is under way, the others wait
      final long offset = i;
      consumer.commitAsync(
          Map.of(ZERO, new OffsetAndMetadata(offset)),
          (all, failure) -> assertNull(failures.put(offset, failure)));
    }
    consumer.close(CloseOptions.timeout(Duration.ofMillis(100)));
    assertEquals(Set.of(1L, 2L, 3L), failures.keySet());
    failures.values().forEach(each -> assertInstanceOf(TimeoutException.class, each));
  }

  @Test
  void callsBackOnceWhereACommitEndsDuringTheEnd() throws Exception {
    final List<Exception> failures = new ArrayList<>();
    final Set<Thread> before = commitThreads();
    try (IndexClient client = broker.client(Duration.ofMillis(200))) {
      broker.stop();
      final GroupCommits commits = new GroupCommits(client.topics().commits(), "g");
      commits.commitLater(
          GroupCommits.UNFENCED,
          Map.of(ZERO, new OffsetAndMetadata(1)),
          (all, failure) -> failures.add(failure));
      final Set<Thread> begun = commitThreads();
      begun.removeAll(before);
      assertEquals(1, begun.size());
      TimeUnit.MILLISECONDS.sleep(50); // it calls
      synchronized (commits) { // it cannot tell of its end
        commits.close(Duration.ofSeconds(1));
        assertEquals(1, failures.size());
        assertInstanceOf(TimeoutException.class, failures.get(0));
      }
      begun.iterator().next().join(20_000);
      commits.callBack();
      assertEquals(1, failures.size());
    }
  }

  private static Set<Thread> commitThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(each -> each.getName().equals("ring-consumer-commits"))
        .collect(Collectors.toCollection(HashSet::new));
  }

  @Test
  void callbacksThatCommitAreCalledOneAfterTheOther() {
    final List<String> called = new ArrayList<>();
    try (RingConsumer<String, String> consumer = assigned(ConsumerConfig.GROUP_ID_CONFIG, "g")) {
      for (int i = 0; i < 3; i++) {
        consumer.commitAsync(
            Map.of(ZERO, new OffsetAndMetadata(1)),
            (all, failure) -> {
              called.add("begin");
              consumer.commitAsync(all, null);
              called.add("end");
            });
      }
      consumer.commitSync(Map.of(ZERO, new OffsetAndMetadata(1)));
    }
    assertEquals(List.of("begin", "end", "begin", "end", "begin", "end"), called);
  }

  @Test
  void commitsOfCallbacksWithinTheEndFail() {
    final List<Exception> failures = new ArrayList<>();
    final RingConsumer<String, String> consumer = assigned(ConsumerConfig.GROUP_ID_CONFIG, "g");
    final OffsetCommitCallback again =
        new OffsetCommitCallback() {
          @Override
          public void onComplete(Map<TopicPartition, OffsetAndMetadata> all, Exception failure) {
            failures.add(failure);
            if (failures.size() < 100) {
              consumer.commitAsync(all, this);
            }
          }
        };
    consumer.commitAsync(Map.of(ZERO, new OffsetAndMetadata(1)), again);
    assertThrows(IllegalStateException.class, consumer::close); // the commit of the second call
    assertEquals(2, failures.size());
    assertNull(failures.get(0));
    assertInstanceOf(KafkaException.class, failures.get(1));
  }

  @Test
  void callsBackBehindACallbackThatThrows() {
    final List<Long> called = new ArrayList<>();
    final RingConsumer<String, String> consumer = assigned(ConsumerConfig.GROUP_ID_CONFIG, "g");
    for (long i = 1; i <= 3; i++) {
      consumer.commitAsync(
          Map.of(ZERO, new OffsetAndMetadata(i)),
          (all, failure) -> {
            called.add(all.get(ZERO).offset());
            throw new IllegalStateException("of " + called);
          });
    }
    final IllegalStateException thrown = assertThrows(IllegalStateException.class, consumer::close);
    assertEquals("of [1]", thrown.getMessage());
    assertEquals(List.of(1L, 2L, 3L), called);
  }

  @Test
  void commitsThatWaitShareOne() {
    final int count = 200;
    final List<Long> called = new ArrayList<>();
    try (RingConsumer<String, String> consumer = assigned(ConsumerConfig.GROUP_ID_CONFIG, "g")) {
      consumer.commitSync(Map.of(ZERO, new OffsetAndMetadata(1)));
      final long before = versionOfCommit();
      for (long i = 1; i <= count; i++) {
        consumer.commitAsync(
            Map.of(ZERO, new OffsetAndMetadata(i)),
            (all, failure) -> called.add(all.get(ZERO).offset()));
      }
      consumer.commitSync(Map.of(ONE, new OffsetAndMetadata(1)));
      assertEquals(count, consumer.committed(Set.of(ZERO)).get(ZERO).offset());
      final long writes = versionOfCommit() - before;
      assertTrue(writes < count / 2, () -> "writes=" + writes);
    }
    assertEquals(LongStream.rangeClosed(1, count).boxed().toList(), called);
  }

  private long versionOfCommit() {
    final String key = TopicCommits.key("g", new dev.ringfetch.index.client.TopicPartition("t", 0));
    return broker.client.topics().commits().index().getEntry(key).orElseThrow().version();
  }

  @Test
  @Timeout(30)
  void pollsAndEndsInTimeWithoutAServer() {
    final RingConsumer<String, String> consumer =
        assigned(
            ConsumerConfig.GROUP_ID_CONFIG, "g", ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, true);
    final RingConsumer<String, String> member =
        broker.consumer(ConsumerConfig.GROUP_ID_CONFIG, "h");
    member.subscribe(List.of("t"));
    broker.stop();
    final long beginNs = System.nanoTime();
    assertTrue(consumer.poll(Duration.ofMillis(100)).isEmpty());
    assertTrue(member.poll(Duration.ofMillis(100)).isEmpty());
    consumer.seek(ZERO, 1); // which its end commits
    consumer.close(CloseOptions.timeout(Duration.ofMillis(100)));
    member.close(CloseOptions.timeout(Duration.ofMillis(100)));
    final long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - beginNs);
    assertTrue(seconds < 30, () -> "seconds=" + seconds);
  }

  @Test
  void isWokenUp() throws Exception {
    try (RingConsumer<String, String> consumer = assigned()) {
      consumer.wakeup();
      assertThrows(WakeupException.class, () -> consumer.poll(Duration.ofSeconds(20)));
      final CompletableFuture<Void> later =
          CompletableFuture.runAsync(
              consumer::wakeup, CompletableFuture.delayedExecutor(200, TimeUnit.MILLISECONDS));
      assertThrows(WakeupException.class, () -> consumer.poll(Duration.ofSeconds(20)));
      later.get(20, TimeUnit.SECONDS);
      assertTrue(consumer.poll(Duration.ofMillis(20)).isEmpty());
    }
  }

  @Test
  void isInterrupted() {
    try (RingConsumer<String, String> consumer = assigned()) {
      consumer.poll(Duration.ofMillis(20));
      Thread.currentThread().interrupt();
      assertThrows(InterruptException.class, () -> consumer.poll(Duration.ofSeconds(20)));
      assertTrue(Thread.interrupted());
      assertTrue(consumer.poll(Duration.ofMillis(20)).isEmpty());
    }
  }

  @Test
  void isUsedByOneThread() {
    try (RingConsumer<String, String> consumer = assigned()) {
      final CompletableFuture<Void> other =
          CompletableFuture.runAsync(
              () -> {
                while (true) { // until the other thread polls
                  consumer.paused();
                  Thread.onSpinWait();
                }
              });
      ExecutionException e = null;
      while (e == null) {
        try {
          consumer.poll(Duration.ofMillis(10));
          other.get(0, TimeUnit.MILLISECONDS);
        } catch (ConcurrentModificationException own) {
          e = null; // it was the other's turn
        } catch (java.util.concurrent.TimeoutException none) {
          e = null; // it goes on
        } catch (ExecutionException failure) {
          e = failure;
        } catch (InterruptedException interrupted) {
          throw new AssertionError(interrupted);
        }
      }
      assertEquals(ConcurrentModificationException.class, e.getCause().getClass());
    }
  }

  @Test
  void refusesWhatItHasNot() {
    try (RingConsumer<String, String> consumer = broker.consumer()) {
      assertThrows(IllegalStateException.class, () -> consumer.poll(Duration.ZERO));
      assertThrows(
          UnknownTopicOrPartitionException.class,
          () -> consumer.assign(List.of(new TopicPartition("none", 0))));
      consumer.unsubscribe();
      assertThrows(InvalidGroupIdException.class, () -> consumer.subscribe(List.of("t")));
      assertThrows(InvalidGroupIdException.class, consumer::commitSync);
      assertThrows(
          UnsupportedOperationException.class, () -> consumer.subscribe(Pattern.compile("t")));
      assertThrows(
          UnsupportedOperationException.class,
          () -> consumer.subscribe(new SubscriptionPattern("t")));
      assertThrows(UnsupportedOperationException.class, consumer::enforceRebalance);
      assertEquals(Set.of("t"), consumer.listTopics().keySet());
      assertEquals(2, consumer.partitionsFor("t").size());
    }
    final RingConsumer<String, String> closed = assigned();
    closed.close();
    closed.close();
    assertThrows(IllegalStateException.class, () -> closed.poll(Duration.ZERO));
    for (final String name :
        List.of(
            ConsumerConfig.GROUP_INSTANCE_ID_CONFIG,
            ConsumerConfig.INTERCEPTOR_CLASSES_CONFIG,
            ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG)) {
      assertThrows(ConfigException.class, () -> broker.consumer(name, "x"), name);
    }
    assertThrows(
        ConfigException.class,
        () -> broker.consumer(ConsumerConfig.GROUP_PROTOCOL_CONFIG, "consumer"));
  }
}
