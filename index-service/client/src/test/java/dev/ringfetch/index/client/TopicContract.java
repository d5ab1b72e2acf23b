package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.UnreliableWrites.Fate;
import dev.ringfetch.index.v1.Durability;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Topics of a client whatever the route of their reads. */
@Timeout(120)
abstract class TopicContract {
  static final String TOPIC = "orders";

  @TempDir Path directory;
  TestServer server;
  IndexClient client;
  Topics topics;
  TopicLog log;

  /** The route of the reads. */
  abstract Access access();

  @BeforeEach
  void start() throws IOException {
    server = TestServer.start(directory);
    client = server.connect();
    topics = client.topics();
    assertTrue(topics.create(TOPIC, TopicOptions.partitions(2)));
    log = topics.log(TOPIC, 0).access(access());
  }

  @AfterEach
  void stop() {
    client.close();
    server.close();
  }

  static List<ByteString> records(int first, int count) {
    return IntStream.range(first, first + count)
        .mapToObj(i -> ByteString.copyFromUtf8("record " + i))
        .toList();
  }

  static void assertFails(Status.Code code, String text, Runnable action) {
    final RuntimeException failed = assertThrows(RuntimeException.class, action::run);
    final IndexException failure =
        assertInstanceOf(
            IndexException.class,
            failed instanceof CompletionException ? failed.getCause() : failed);
    assertEquals(code, failure.code(), failure.getMessage());
    assertTrue(failure.getMessage().contains(text), failure.getMessage());
  }

  @Test
  void recordsAreReadInOrder() {
    assertEquals(List.of(), log.read(0, 10, 1 << 20));
    assertEquals(log.first(), log.end());
    final List<Long> offsets = new ArrayList<>();
    for (int i = 0; i < 2_000; i += 500) {
      offsets.addAll(log.append(records(i, 500)).join().offsets());
    }
    assertEquals(offsets.get(0), log.first());
    assertEquals(offsets.get(1_999) + 1, log.end());
    final List<TopicRecord> read = new ArrayList<>();
    long next = 0;
    while (next < log.end()) {
      final List<TopicRecord> some = log.read(next, 700, 1 << 20);
      assertTrue(some.size() == 700 || next + 700 > log.end(), () -> "size=" + some.size());
      read.addAll(some);
      next = some.get(some.size() - 1).offset() + 1;
    }
    assertEquals(offsets, read.stream().map(TopicRecord::offset).toList());
    assertEquals(records(0, 2_000), read.stream().map(TopicRecord::value).toList());
    assertEquals(List.of(), log.read(log.end(), 10, 1 << 20));
    assertEquals(log.first(), log.read(log.first(), 1, 1).get(0).offset());
    assertEquals(List.of(), topics.log(TOPIC, 1).read(0, 1, 1));
  }

  @Test
  void bytesLimitARead() {
    final ByteString large = ByteString.copyFrom(new byte[1_000]);
    log.append(List.of(large, large, large)).join();
    assertEquals(1, log.read(0, 10, 1).size());
    assertEquals(1, log.read(0, 10, 1_000).size());
    assertEquals(2, log.read(0, 10, 1_001).size());
    assertEquals(3, log.read(0, 10, 1 << 20).size());
  }

  @Test
  void offsetsAreFoundByTime() throws InterruptedException {
    assertEquals(OptionalLong.empty(), log.offsetAt(0));
    for (int i = 0; i < 20; i++) {
      log.append(records(i, 7)).join();
      TimeUnit.MILLISECONDS.sleep(3);
    }
    final List<TopicRecord> all = log.read(0, 1_000, 1 << 20);
    final long lastMs = all.get(all.size() - 1).timeMs();
    for (long ms = all.get(0).timeMs() - 1; ms <= lastMs + 1; ms++) {
      final long sought = ms;
      final OptionalLong expected =
          all.stream()
              .filter(record -> record.timeMs() >= sought)
              .mapToLong(TopicRecord::offset)
              .findFirst();
      assertEquals(expected, log.offsetAt(ms), () -> "ms=" + sought);
    }
  }

  @Test
  void anIdleReaderIsWokenUp() throws Exception {
    assertFalse(log.await(log.end(), Duration.ofMillis(50)));
    final Semaphore ran = new Semaphore(0);
    final TopicWatch watch = log.onAppend(ran::release);
    try (watch) {
      assertTrue(ran.tryAcquire(30, TimeUnit.SECONDS)); // the watch has begun
      log.append(records(0, 3)).join();
      assertTrue(ran.tryAcquire(30, TimeUnit.SECONDS));
    }
    assertTrue(log.await(log.first(), Duration.ZERO));
    final long end = log.end();
    final Thread waiting =
        new Thread(
            () -> {
              assertTrue(log.await(end, Duration.ofSeconds(60)));
              ran.release(100);
            });
    waiting.start();
    log.append(records(3, 1)).join();
    assertTrue(ran.tryAcquire(100, 30, TimeUnit.SECONDS));
    waiting.join();
  }

  @Test
  void removedRecordsAreReported() {
    final List<Long> offsets = log.append(records(0, 10)).join().offsets();
    client
        .ordered(new TopicPartition(TOPIC, 0).index(), BasicCodecs.OFFSET, Codec.byteString())
        .deleteRange(Range.lessThan(offsets.get(5)));
    final OffsetOutOfRangeException gone =
        assertThrows(OffsetOutOfRangeException.class, () -> log.read(offsets.get(4), 10, 1 << 20));
    assertEquals(offsets.get(5), gone.first());
    assertEquals(Status.Code.OUT_OF_RANGE, gone.code());
    assertEquals(5, log.read(gone.first(), 10, 1 << 20).size());
    assertEquals(5, log.read(0, 10, 1 << 20).size());
  }

  @Test
  void anAppendIsCarriedOutOnce() {
    final UnreliableWrites writes = new UnreliableWrites();
    final List<Fate> fates =
        List.of(
            Fate.SENT_TWICE,
            Fate.ANSWER_LOST,
            Fate.NONE,
            Fate.TWICE_AND_LOST,
            Fate.OVERLOADED,
            Fate.ANSWER_LOST);
    final List<Long> offsets = new ArrayList<>();
    final List<Long> timesMs = new ArrayList<>(); // 0: the answer was lost
    final ManagedChannel channel = server.channel(writes);
    try (IndexClient unreliable = server.builder(channel).build()) {
      final TopicLog to = unreliable.topics().log(TOPIC, 0);
      for (int i = 0; i < fates.size(); i++) {
        final Iterator<Fate> next = List.of(fates.get(i)).iterator();
        writes.fates = () -> next.hasNext() ? next.next() : Fate.NONE;
        final Appended appended = to.append(records(5 * i, 5)).join();
        offsets.addAll(appended.offsets());
        IntStream.range(0, 5).forEach(record -> timesMs.add(appended.timeMs(record)));
      }
      assertEquals(fates.size() + 4, writes.numbers.size());
    } finally {
      channel.shutdownNow();
    }
    final List<TopicRecord> all = log.read(0, 100, 1 << 20);
    assertEquals(offsets, all.stream().map(TopicRecord::offset).toList());
    assertEquals(records(0, 5 * fates.size()), all.stream().map(TopicRecord::value).toList());
    for (int i = 0; i < timesMs.size(); i++) {
      final Fate fate = fates.get(i / 5);
      final boolean isLost = fate == Fate.ANSWER_LOST || fate == Fate.TWICE_AND_LOST;
      if (isLost || timesMs.get(i) != 0) {
        assertEquals(isLost ? 0 : all.get(i).timeMs(), timesMs.get(i), fate + " record=" + i);
      } else {
        assertEquals(Fate.SENT_TWICE, fate); // the answer may be that of the second call
      }
    }
  }

  @Test
  void hostileAppendsAreRefused() {
    assertFails(Status.Code.INVALID_ARGUMENT, "records=0", () -> log.append(List.of()).join());
    assertFails(
        Status.Code.INVALID_ARGUMENT, "records=1001", () -> log.append(records(0, 1_001)).join());
    final ByteString longest = ByteString.copyFrom(new byte[TopicLog.MAX_RECORD_BYTES]);
    assertFails(
        Status.Code.INVALID_ARGUMENT,
        "record is too long: size=1048569 limit=1048568",
        () -> log.append(List.of(longest.concat(ByteString.copyFrom(new byte[1])))).join());
    assertFails(
        Status.Code.INVALID_ARGUMENT,
        "request is too long",
        () -> log.append(List.of(longest, longest, longest, longest, longest)).join());
    assertFails(
        Status.Code.NOT_FOUND,
        "no such topic",
        () -> topics.log("none", 0).append(records(0, 1)).join());
    assertEquals(List.of(TOPIC), topics.list()); // nothing was created
    assertThrows(IllegalArgumentException.class, () -> topics.log("a/b", 0));
    assertThrows(IllegalArgumentException.class, () -> topics.log("", 0));
    assertThrows(IllegalArgumentException.class, () -> topics.log("a", -1));
    assertThrows(IllegalArgumentException.class, () -> log.read(-1, 1, 1));
    client.ordered("topic.plain.0", Codec.string(), Codec.string()).put("a", "b");
    assertFails(
        Status.Code.FAILED_PRECONDITION,
        "was not created for appends",
        () -> topics.log("plain", 0).append(records(0, 1)).join());
    assertEquals(List.of(TOPIC), topics.list());
  }

  @Test
  void topicsAreCreatedDescribedAndDeleted() {
    final TopicOptions options =
        TopicOptions.partitions(3)
            .durability(Durability.MEMORY)
            .retention(Duration.ofHours(1))
            .retentionBytes(1 << 20);
    assertTrue(topics.create("b.c", options));
    assertFalse(topics.create("b.c", options));
    topics.log("b.c", 0).append(records(0, 2)).join();
    topics.log("b.c", 2).append(records(0, 5)).join();
    assertEquals(
        new TopicDescription("b.c", 3, Durability.MEMORY, Duration.ofHours(1), 1 << 20, 7),
        topics.describe("b.c").orElseThrow());
    assertEquals(List.of("b.c", TOPIC), topics.list());
    assertEquals(3, topics.partitions("b.c"));
    assertEquals(0, topics.partitions("b"));
    assertThrows(IllegalArgumentException.class, () -> topics.partitions("b/c"));
    assertFails(
        Status.Code.ALREADY_EXISTS,
        "partitions=3",
        () -> topics.create("b.c", TopicOptions.partitions(2)));
    assertFails(
        Status.Code.ALREADY_EXISTS,
        "retention_ms=3600000",
        () -> topics.create("b.c", TopicOptions.partitions(3)));
    client.drop("topic.b.c.0"); // as a removal that was interrupted
    assertTrue(topics.describe("b.c").isEmpty());
    assertEquals(0, topics.partitions("b.c"));
    assertFails( // which would bring back the records of another partition
        Status.Code.FAILED_PRECONDITION,
        "delete the topic first: topic=b.c",
        () -> topics.create("b.c", options));
    assertTrue(topics.delete("b.c"));
    assertTrue(topics.create("b.c", options));
    client.drop("topic.b.c.0");
    assertFails(
        Status.Code.FAILED_PRECONDITION,
        "delete the topic first: topic=b.c",
        () -> topics.create("b.c", TopicOptions.partitions(1)));
    assertTrue(topics.create("b.c", options)); // goes on with the parts without records
    assertTrue(topics.delete("b.c"));
    assertTrue(topics.create("b.c", TopicOptions.partitions(1)));
    assertEquals(0, topics.describe("b.c").orElseThrow().records());
    assertEquals(1, topics.describe("b.c").orElseThrow().partitions());
    assertTrue(topics.delete("b.c"));
    assertFalse(topics.delete("b.c"));
    assertEquals(List.of(TOPIC), topics.list());
    assertTrue(client.indexes().stream().noneMatch(name -> name.startsWith("topic.b.c")));
  }
}
