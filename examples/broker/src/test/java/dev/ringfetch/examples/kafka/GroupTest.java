package dev.ringfetch.examples.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.client.TopicCommits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Groups: members come, leave and crash; commits of an older generation are refused. */
@Timeout(120)
final class GroupTest {
  private static final int PARTITIONS = 4;

  @TempDir private Path directory;
  private TestBroker broker;
  private final List<RingConsumer<String, String>> open = new ArrayList<>();

  @BeforeEach
  void start() throws Exception {
    broker = new TestBroker(directory);
    broker.topic("t", PARTITIONS);
  }

  @AfterEach
  void stop() {
    open.forEach(RingConsumer::close);
    broker.close();
  }

  /** A listener that writes down what it is told. */
  private static final class Diary implements ConsumerRebalanceListener {
    private final List<String> lines = new ArrayList<>();

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
      lines.add("revoked " + numbers(partitions));
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
      lines.add("assigned " + numbers(partitions));
    }

    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
      lines.add("lost " + numbers(partitions));
    }
  }

  private final Logger heartbeats = Logger.getLogger(GroupMember.class.getName());

  /** Counts the messages with a word. */
  private static final class Counter extends Handler {
    private final AtomicInteger count;
    private final String word;

    Counter(AtomicInteger count, String word) {
      this.count = count;
      this.word = word;
    }

    @Override
    public void publish(LogRecord message) {
      if (message.getMessage().contains(word)) {
        count.incrementAndGet();
      }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  private static Set<Integer> numbers(Collection<TopicPartition> partitions) {
    final Set<Integer> numbers = new TreeSet<>();
    partitions.forEach(each -> numbers.add(each.partition()));
    return numbers;
  }

  private RingConsumer<String, String> member(
      String id, ConsumerRebalanceListener listener, Object... settings) {
    final List<Object> all =
        new ArrayList<>(
            List.of(ConsumerConfig.GROUP_ID_CONFIG, "g", ConsumerConfig.CLIENT_ID_CONFIG, id));
    all.addAll(List.of(settings));
    final RingConsumer<String, String> consumer = broker.consumer(all.toArray());
    consumer.subscribe(List.of("t"), listener);
    open.add(consumer);
    return consumer;
  }

  /** Polls several consumers by turns until something holds. */
  @SafeVarargs
  private static void pollUntil(BooleanSupplier holds, RingConsumer<String, String>... consumers) {
    final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (!holds.getAsBoolean()) {
      if (System.nanoTime() - endNs > 0) {
        final StringBuilder text = new StringBuilder("not within 30 s:");
        for (final RingConsumer<String, String> each : consumers) {
          text.append(' ').append(each.groupMetadata()).append(each.assignment());
        }
        throw new AssertionError(text);
      }
      for (final RingConsumer<String, String> each : consumers) {
        each.poll(Duration.ofMillis(5));
      }
    }
  }

  private static Set<Integer> of(RingConsumer<String, String> consumer) {
    return numbers(consumer.assignment());
  }

  @Test
  void oneMemberHasAllAndTwoShare() {
    final Diary diary = new Diary();
    final RingConsumer<String, String> a = member("a", diary);
    pollUntil(() -> of(a).size() == PARTITIONS, a);
    final long first = a.groupMetadata().generationId();
    final RingConsumer<String, String> b = member("b", new Diary());
    pollUntil(() -> of(a).size() == 2 && of(b).size() == 2, a, b);
    assertEquals(Set.of(0, 1), of(a));
    assertEquals(Set.of(2, 3), of(b));
    assertEquals(first + 1, a.groupMetadata().generationId());
    assertEquals(a.groupMetadata().generationId(), b.groupMetadata().generationId());
    b.close();
    pollUntil(() -> of(a).size() == PARTITIONS, a);
    assertEquals(
        List.of(
            "assigned [0, 1, 2, 3]",
            "revoked [0, 1, 2, 3]",
            "assigned [0, 1]",
            "revoked [0, 1]",
            "assigned [0, 1, 2, 3]"),
        diary.lines);
  }

  @Test
  void moreMembersThanPartitionsWait() {
    final RingConsumer<String, String> a = member("a", new Diary());
    final RingConsumer<String, String> b = member("b", new Diary());
    final RingConsumer<String, String> c = member("c", new Diary());
    final RingConsumer<String, String> d = member("d", new Diary());
    final RingConsumer<String, String> e = member("e", new Diary());
    pollUntil(
        () ->
            List.of(a, b, c, d).stream().allMatch(each -> of(each).size() == 1)
                && e.groupMetadata().generationId() == a.groupMetadata().generationId(),
        a,
        b,
        c,
        d,
        e);
    assertEquals(Set.of(), of(e));
  }

  @Test
  void noRecordIsReadByTwoGenerationsAtOnce() {
    final RingConsumer<String, String> a = member("a", new Diary());
    pollUntil(() -> of(a).size() == PARTITIONS, a);
    final RingConsumer<String, String> b = member("b", new Diary());
    for (int i = 0; i < 50; i++) {
      b.poll(Duration.ofMillis(5)); // a does not poll: it has not given up its partitions
      assertEquals(Set.of(), of(b));
    }
    a.commitSync(Map.of(new TopicPartition("t", 3), new OffsetAndMetadata(7))); // it still may
    pollUntil(() -> of(b).size() == 2, a, b);
    assertEquals(7, b.position(new TopicPartition("t", 3)));
  }

  @Test
  void theLeaseOfACrashedMemberEnds() {
    final RingConsumer<String, String> a = member("a", new Diary());
    final RingConsumer<String, String> b = member("b", new Diary());
    pollUntil(() -> of(a).size() == 2 && of(b).size() == 2, a, b);
    b.close(
        org.apache.kafka.clients.consumer.CloseOptions.groupMembershipOperation(
            org.apache.kafka.clients.consumer.CloseOptions.GroupMembershipOperation
                .REMAIN_IN_GROUP)); // as if it had crashed: nothing renews its lease
    final long beginNs = System.nanoTime();
    pollUntil(() -> of(a).size() == PARTITIONS, a);
    final long ms = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beginNs);
    assertTrue(ms < 10_000, () -> "took ms=" + ms);
  }

  @Test
  void aMemberThatDoesNotPollLeavesAndItsCommitsAreRefused() throws Exception {
    final AtomicInteger departures = new AtomicInteger();
    final Handler counter = new Counter(departures, "leaves");
    heartbeats.addHandler(counter);
    final Diary diary = new Diary();
    final RingConsumer<String, String> slow =
        member("a", diary, ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG, 600);
    pollUntil(() -> of(slow).size() == PARTITIONS, slow);
    final RingConsumer<String, String> other = member("b", new Diary());
    pollUntil(() -> of(other).size() == PARTITIONS, other);
    TimeUnit.MILLISECONDS.sleep(500); // some heartbeats
    assertThrows(
        CommitFailedException.class,
        () -> slow.commitSync(Map.of(new TopicPartition("t", 0), new OffsetAndMetadata(5))));
    assertEquals(
        null, other.committed(Set.of(new TopicPartition("t", 0))).get(new TopicPartition("t", 0)));
    pollUntil(() -> of(slow).size() == 2 && of(other).size() == 2, slow, other);
    assertEquals("lost [0, 1, 2, 3]", diary.lines.get(1));
    assertEquals(1, departures.get());
    heartbeats.removeHandler(counter);
    other.commitSync(Map.of(new TopicPartition("t", 3), new OffsetAndMetadata(5)));
  }

  @Test
  void leavesAlthoughItsListenerFails() {
    final ConsumerRebalanceListener failing =
        new ConsumerRebalanceListener() {
          @Override
          public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            throw new IllegalStateException("revoked " + numbers(partitions));
          }

          @Override
          public void onPartitionsAssigned(Collection<TopicPartition> partitions) {}
        };
    final RingConsumer<String, String> closed = member("a", failing);
    pollUntil(() -> of(closed).size() == PARTITIONS, closed);
    assertThrows(IllegalStateException.class, closed::close);
    final RingConsumer<String, String> other = member("b", failing);
    pollUntil(() -> of(other).size() == PARTITIONS, other);
    assertThrows(IllegalStateException.class, other::unsubscribe);
    assertEquals(Set.of(), other.assignment());
    other.subscribe(List.of("t"));
    pollUntil(() -> of(other).size() == PARTITIONS, other);
  }

  @Test
  void leavesWhileItsThreadIsInterrupted() {
    final RingConsumer<String, String> closed =
        member("a", new Diary(), ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, true);
    pollUntil(() -> of(closed).size() == PARTITIONS, closed);
    Thread.currentThread().interrupt();
    assertThrows(InterruptException.class, closed::close);
    assertTrue(Thread.interrupted());
    final RingConsumer<String, String> other = member("b", new Diary());
    pollUntil(() -> of(other).size() == PARTITIONS, other); // its lease ends at the latest
  }

  @Test
  void membersWithOldListsOfTopicsAgreeOnTheNewOne() throws Exception {
    broker.topic("u", 2);
    final RingConsumer<String, String> a =
        member("a", new Diary(), ConsumerConfig.METADATA_MAX_AGE_CONFIG, 100L);
    final RingConsumer<String, String> b = member("b", new Diary()); // its list is old for minutes
    a.subscribe(List.of("t", "u"));
    b.subscribe(List.of("t", "u"));
    final int before = PARTITIONS + 2;
    pollUntil(() -> of(a, b) == before, a, b);
    assertEquals(2, b.partitionsFor("u").size()); // which it keeps
    broker.client.topics().delete("u");
    broker.topic("u", 4);
    pollUntil(() -> b.assignment().isEmpty(), b);
    pollUntil(() -> a.assignment().size() == before / 2 + 1, a); // it begins the generation
    final int generation = a.groupMetadata().generationId();
    for (int i = 0; i < 100; i++) { // some heartbeats
      b.poll(Duration.ofMillis(5));
      a.poll(Duration.ofMillis(5));
    }
    assertEquals(generation, a.groupMetadata().generationId());
    assertEquals(generation, b.groupMetadata().generationId());
  }

  private static int of(RingConsumer<String, String> a, RingConsumer<String, String> b) {
    return a.assignment().size() + b.assignment().size();
  }

  @Test
  void theLastMembersCommitsAreRefusedAfterItHasLeft() {
    final RingConsumer<String, String> a = member("a", new Diary());
    pollUntil(() -> of(a).size() == PARTITIONS, a);
    final long generation = a.groupMetadata().generationId();
    a.close();
    final TopicCommits commits = broker.client.topics().commits();
    assertTrue(commits.generation("g") > generation);
    assertThrows(
        dev.ringfetch.index.client.FencedException.class,
        () ->
            commits.commit(
                "g",
                generation,
                Map.of(
                    new dev.ringfetch.index.client.TopicPartition("t", 0),
                    new TopicCommits.Commit(3, ""))));
  }

  @Test
  void joinsAgainAfterAllGroupsWereDropped() {
    final RingConsumer<String, String> a = member("a", new Diary());
    pollUntil(() -> of(a).size() == PARTITIONS, a);
    a.commitSync();
    for (int i = 0; i < 3; i++) { // more changes than those of the new index
      final RingConsumer<String, String> b = member("b", new Diary());
      pollUntil(() -> of(a, b) == PARTITIONS && !b.assignment().isEmpty(), a, b);
      b.close();
      open.remove(b);
      pollUntil(() -> of(a).size() == PARTITIONS, a);
    }
    final long generation = a.groupMetadata().generationId();
    assertTrue(broker.client.drop(TopicCommits.INDEX));
    pollUntil(() -> of(a).size() == PARTITIONS && a.groupMetadata().generationId() < generation, a);
    a.commitSync();
  }

  @Test
  void nothingIsLostOrTwiceWhenMembersComeAndLeaveInOrder() throws Exception {
    final int count = 2_000;
    final List<String> read = new ArrayList<>();
    try (RingProducer<String, String> producer = broker.producer()) {
      final RingConsumer<String, String> a =
          member("a", new Diary(), ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, true);
      RingConsumer<String, String> b = null;
      for (int i = 0; i < count; i++) {
        final var unused = producer.send(new ProducerRecord<>("t", "k" + i % 17, "v" + i));
        if (i % 400 == 200) {
          b = member("b", new Diary(), ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, true);
        }
        if (i % 400 == 399) {
          b.close();
          open.remove(b);
          b = null;
        }
        if (i % 20 == 0) {
          a.poll(Duration.ofMillis(2)).forEach(each -> read.add(each.value()));
          if (b != null) {
            b.poll(Duration.ofMillis(2)).forEach(each -> read.add(each.value()));
          }
        }
      }
      producer.flush();
      final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
      while (read.size() < count && System.nanoTime() - endNs < 0) {
        a.poll(Duration.ofMillis(10)).forEach(each -> read.add(each.value()));
      }
    }
    assertEquals(count, read.size());
    assertEquals(count, Set.copyOf(read).size());
  }

  @Test
  void aTopicThatIsCreatedLaterIsAssigned() {
    final RingConsumer<String, String> a =
        member("a", new Diary(), ConsumerConfig.METADATA_MAX_AGE_CONFIG, 100L);
    pollUntil(() -> of(a).size() == PARTITIONS, a);
    a.subscribe(List.of("t", "later"));
    pollUntil(() -> of(a).size() == PARTITIONS, a);
    assertFalse(a.assignment().stream().anyMatch(each -> each.topic().equals("later")));
    broker.topic("later", 1);
    pollUntil(() -> a.assignment().size() == PARTITIONS + 1, a);
  }
}
