package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.client.TopicCommits.Commit;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Topics that are read by calls, and the commits of groups. */
final class TopicTest extends TopicContract {
  private static final TopicPartition FIRST = new TopicPartition(TOPIC, 0);
  private static final TopicPartition SECOND = new TopicPartition(TOPIC, 1);

  @Override
  Access access() {
    return Access.RPC;
  }

  private void withOther(Function<String, Status> step, Consumer<IndexClient> action) {
    final ManagedChannel channel = server.channel(new CallSteps(step));
    try (IndexClient other = server.builder(channel).build()) {
      action.accept(other);
    } finally {
      channel.shutdownNow();
    }
  }

  @Test
  void aCreatorDropsNothingOfAnother() {
    final TopicOptions options = TopicOptions.partitions(2);
    topics.create("new", options);
    client.drop("topic.new.0"); // as a creation that is about to end
    final List<String> methods = new ArrayList<>();
    withOther(
        method -> {
          methods.add(method);
          if (methods.size() == 2) { // behind the list
            assertTrue(topics.create("new", options));
            topics.log("new", 1).append(records(0, 3)).join();
          }
          return null;
        },
        other -> assertFalse(other.topics().create("new", options)));
    assertEquals("ListIndexes", methods.get(0));
    assertEquals(3, topics.log("new", 1).count(0));
    assertEquals(2, topics.partitions("new"));
  }

  @Test
  void aDeletionThatLeavesAPartOfALaterTopicSaysSo() {
    final TopicOptions options = TopicOptions.partitions(2);
    topics.create("new", options);
    final AtomicInteger drops = new AtomicInteger();
    withOther(
        method -> {
          if (method.equals("DropIndex") && drops.incrementAndGet() == 2) {
            assertTrue(topics.create("new", options)); // with the former's partition 1
          }
          return null;
        },
        other -> assertEquals(Status.Code.ABORTED, failureOf(() -> other.topics().delete("new"))));
    assertTrue(topics.delete("new"));
    assertTrue(client.indexes().stream().noneMatch(name -> name.startsWith("topic.new.")));
  }

  @Test
  void aDeletionTakesNothingFromALaterTopicWithFewerPartitions() {
    topics.create("new", TopicOptions.partitions(2));
    final TopicPartition first = new TopicPartition("new", 0);
    topics.commits().commit("g", Map.of(first, new Commit(5)));
    final AtomicInteger lists = new AtomicInteger();
    withOther(
        method -> {
          if (method.equals("ListIndexes") && lists.incrementAndGet() == 2) {
            assertTrue(topics.create("new", TopicOptions.partitions(1)));
            topics.log("new", 0).append(List.of(ByteString.EMPTY)).join();
          }
          return null;
        },
        other -> assertEquals(Status.Code.ABORTED, failureOf(() -> other.topics().delete("new"))));
    assertEquals(1, topics.log("new", 0).count(0));
  }

  @Test
  void aDeletionTakesNoCommitOfALaterTopic() {
    final TopicOptions options = TopicOptions.partitions(1);
    topics.create("new", options);
    final TopicPartition first = new TopicPartition("new", 0);
    final TopicCommits commits = topics.commits();
    commits.commit("g", Map.of(first, new Commit(5)));
    commits.commit("h", Map.of(first, new Commit(5)));
    final AtomicInteger lists = new AtomicInteger();
    withOther(
        method -> {
          if (method.equals("ListIndexes") && lists.incrementAndGet() == 2) {
            assertTrue(topics.create("new", options));
            commits.commit("g", Map.of(first, new Commit(2)));
          }
          return null;
        },
        other -> assertTrue(other.topics().delete("new")));
    assertEquals(1, topics.partitions("new"));
    assertEquals(Optional.of(new Commit(2)), commits.committed("g", first));
    assertEquals(Optional.empty(), commits.committed("h", first));
  }

  private static Status.Code failureOf(Executable deletion) {
    return assertThrows(IndexException.class, deletion).code();
  }

  @Test
  void aCreationBesideADeletionIsWhole() {
    final TopicOptions options = TopicOptions.partitions(3);
    final AtomicInteger creations = new AtomicInteger();
    withOther(
        method -> {
          if (method.equals("CreateIndex") && creations.incrementAndGet() == 3) {
            assertTrue(topics.delete("new")); // of the partitions 2 and 1
          }
          return null;
        },
        other -> assertTrue(other.topics().create("new", options)));
    assertEquals(3, topics.partitions("new"));
  }

  /**
   * An appender, busy or idle, that learns of a deletion creates nothing under the topic's name.
   */
  @Test
  void anAppendBehindADeletionLeavesTheNameFree() {
    final TopicOptions options = TopicOptions.partitions(1);
    topics.create("new", options);
    final TopicLog busy = topics.log("new", 0);
    busy.append(List.of(ByteString.EMPTY)).join();
    assertTrue(topics.delete("new"));
    for (int i = 0; i < 2; i++) {
      final var failed =
          assertThrows(
              CompletionException.class, () -> busy.append(List.of(ByteString.EMPTY)).join());
      assertEquals(Status.Code.NOT_FOUND, ((IndexException) failed.getCause()).code());
    }
    assertTrue(topics.create("new", options));
    assertEquals(1, busy.append(List.of(ByteString.EMPTY)).join().offsets().size());
  }

  @Test
  void aDeletionDropsNothingThatWasCreatedLater() {
    final TopicOptions options = TopicOptions.partitions(2);
    topics.create("new", options);
    final AtomicInteger drops = new AtomicInteger();
    final List<Integer> left = new ArrayList<>();
    withOther(
        method -> {
          if (method.equals("DropIndex") && drops.incrementAndGet() == 1) { // it is on its way
            topics.delete("new");
            topics.create("new", options);
          } else if (method.equals("ListIndexes")) {
            left.add(topics.partitions("new"));
          }
          return null;
        },
        other -> assertTrue(other.topics().delete("new")));
    assertEquals(List.of(2, 2), left);
    assertEquals(2, topics.partitions("new"));
  }

  @Test
  void aTopicThatOthersDeleteForEverIsNotCreated() {
    withOther(
        method -> {
          if (method.equals("ListIndexes")) {
            topics.delete("new");
          }
          return null;
        },
        other ->
            assertEquals(
                Status.Code.ABORTED,
                assertThrows(
                        IndexException.class,
                        () -> other.topics().create("new", TopicOptions.partitions(2)))
                    .code()));
  }

  @Test
  void aRefusedWatchBeginsAgainAfterPauses() throws InterruptedException {
    final AtomicInteger refused = new AtomicInteger();
    final Semaphore ran = new Semaphore(0);
    final AtomicBoolean open = new AtomicBoolean();
    withOther(
        method -> {
          if (!method.equals("Watch") || open.get()) {
            return null;
          }
          refused.incrementAndGet();
          return Status.RESOURCE_EXHAUSTED.withDescription("too many watches");
        },
        other -> {
          final TopicWatch watch = other.topics().log(TOPIC, 0).onAppend(ran::release);
          try (watch) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(500));
            assertTrue(refused.get() < 20, () -> "refused=" + refused);
            open.set(true);
            assertTrue(acquire(ran));
          }
        });
  }

  private static boolean acquire(Semaphore ran) {
    try {
      return ran.tryAcquire(30, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aWatchOutlivesItsTopicAndATaskThatThrows() throws InterruptedException {
    final Semaphore ran = new Semaphore(0);
    final AtomicBoolean throwing = new AtomicBoolean();
    final Runnable task =
        () -> {
          final boolean isThrown = throwing.getAndSet(false);
          ran.release();
          if (isThrown) {
            throw new IllegalStateException("the task of the test");
          }
        };
    final TopicWatch watch = log.onAppend(task);
    try (watch) {
      assertTrue(acquire(ran));
      throwing.set(true);
      log.append(records(0, 1)).join();
      assertTrue(acquire(ran));
      topics.delete(TOPIC);
      topics.create(TOPIC, TopicOptions.partitions(2));
      final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
      while (ran.tryAcquire(2, TimeUnit.SECONDS)) {} // until it waits for an append
      while (!ran.tryAcquire(100, TimeUnit.MILLISECONDS) && System.nanoTime() - endNs < 0) {
        log.append(records(1, 1)).join();
      }
      assertTrue(System.nanoTime() - endNs < 0);
    }
  }

  @Test
  void aReadEndsWhereRecordsWereRemovedWithinIt() {
    topics.create("pages", TopicOptions.partitions(1));
    final TopicLog pages = topics.log("pages", 0);
    pages.append(Collections.nCopies(1_000, ByteString.EMPTY)).join();
    pages.append(Collections.nCopies(500, ByteString.EMPTY)).join();
    final OrderedIndex<Long, ByteString> index =
        client.ordered("topic.pages.0", BasicCodecs.OFFSET, Codec.byteString());
    final AtomicInteger calls = new AtomicInteger();
    withOther(
        method -> {
          if (method.equals("ScanPage") && calls.incrementAndGet() == 2) {
            assertEquals(1_200, index.deleteRange(Range.lessThan(pages.first() + 1_200)));
          }
          return null;
        },
        other -> {
          final TopicLog log = other.topics().log("pages", 0);
          final List<TopicRecord> records = log.read(1, 1_500, 1 << 20);
          assertEquals(1_000, records.size());
          final long next = records.get(999).offset() + 1;
          assertEquals(
              next + 200,
              assertThrows(OffsetOutOfRangeException.class, () -> log.read(next, 1, 1)).first());
        });
  }

  @Test
  void anAppendOfUnknownOutcomeSaysSo() {
    final Subject subject = new Subject(Operation.APPEND, "topic.t.0", null);
    for (final Status status : List.of(Status.UNKNOWN, Status.DATA_LOSS, Status.UNAVAILABLE)) {
      assertTrue(new AppendException(subject, status, Appended.NONE).isOutcomeUnknown());
    }
    assertFalse(
        new AppendException(subject, Status.RESOURCE_EXHAUSTED, Appended.NONE).isOutcomeUnknown());
  }

  @Test
  void commitsAreKept() {
    final TopicCommits commits = topics.commits();
    assertEquals(Optional.empty(), commits.committed("g", FIRST));
    commits.commit("g", Map.of(FIRST, new Commit(5), SECOND, new Commit(7, "text")));
    commits.commit("other}", Map.of(FIRST, new Commit(0)));
    commits.commit("g", Map.of());
    assertEquals(
        Map.of(FIRST, new Commit(5), SECOND, new Commit(7, "text")),
        commits.committed("g", List.of(FIRST, SECOND, new TopicPartition("b", 1))));
    assertEquals(Optional.of(new Commit(0)), commits.committed("other}", FIRST));
  }

  @Test
  void commitsEndWithTheirTopic() {
    topics.create("b", TopicOptions.partitions(1));
    final TopicPartition other = new TopicPartition("b", 0);
    final TopicCommits commits = topics.commits();
    commits.commit("g", Map.of(FIRST, new Commit(5), SECOND, new Commit(7), other, new Commit(1)));
    commits.commit("a}/" + TOPIC + "/{", Map.of(FIRST, new Commit(2)));
    commits.index().put("{g}/work/" + FIRST, ByteString.EMPTY); // a program's own
    assertTrue(topics.delete(TOPIC));
    assertEquals(
        Map.of(other, new Commit(1)), commits.committed("g", List.of(FIRST, SECOND, other)));
    assertEquals(2, commits.index().count());
    commits.commit("g", Map.of(FIRST, new Commit(5)));
    assertFalse(topics.delete(TOPIC), "an earlier deletion may have ended before the commits did");
    assertEquals(Optional.empty(), commits.committed("g", FIRST));
  }

  @Test
  void commitsOfOtherGenerationsAreFenced() {
    final TopicCommits commits = topics.commits();
    assertEquals(0, commits.generation("g"));
    commits.commit("g", 0, Map.of(FIRST, new Commit(1)));
    commits
        .index()
        .transaction()
        .then(operations -> operations.increment(TopicCommits.generationKey("g"), 1))
        .commit();
    assertEquals(1, commits.generation("g"));
    final FencedException fenced =
        assertThrows(
            FencedException.class,
            () -> commits.commit("g", 0, Map.of(FIRST, new Commit(2), SECOND, new Commit(2))));
    assertEquals(1, fenced.generation());
    assertEquals(Status.Code.FAILED_PRECONDITION, fenced.code());
    assertThrows(FencedException.class, () -> commits.commit("g", 2, Map.of(FIRST, new Commit(2))));
    assertEquals(Map.of(FIRST, new Commit(1)), commits.committed("g", List.of(FIRST, SECOND)));
    commits.commit("g", 1, Map.of(FIRST, new Commit(3)));
    assertEquals(Optional.of(new Commit(3)), commits.committed("g", FIRST));
    commits.commit("g", Map.of(FIRST, new Commit(4))); // which asks for no generation
    assertEquals(Optional.of(new Commit(4)), commits.committed("g", FIRST));
  }

  @Test
  void hostileCommitsAreRefused() {
    final TopicCommits commits = topics.commits();
    assertThrows(IllegalArgumentException.class, () -> new Commit(-1));
    assertThrows(IllegalArgumentException.class, () -> Commit.decoded(ByteString.EMPTY));
    assertThrows(IllegalArgumentException.class, () -> commits.generation(""));
    assertThrows(IllegalArgumentException.class, () -> commits.generation("g".repeat(201)));
    final Map<TopicPartition, Commit> many = new HashMap<>();
    for (int i = 0; i <= TopicCommits.MAX_PARTITIONS; i++) {
      many.put(new TopicPartition(TOPIC, i), new Commit(i));
    }
    assertThrows(IllegalArgumentException.class, () -> commits.commit("g", many));
    many.remove(FIRST);
    commits.commit("g", 0, many);
    assertEquals(many, commits.committed("g", new ArrayList<>(many.keySet())));
    assertTrue(client.indexes().contains(TopicCommits.INDEX));
  }
}
