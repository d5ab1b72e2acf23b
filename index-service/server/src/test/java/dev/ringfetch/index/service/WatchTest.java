package dev.ringfetch.index.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.call.WatchCall;
import dev.ringfetch.index.call.WatchCalls;
import dev.ringfetch.index.v1.CompareAndSetRequest;
import dev.ringfetch.index.v1.CountRequest;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.DeleteRequest;
import dev.ringfetch.index.v1.DropIndexRequest;
import dev.ringfetch.index.v1.Durability;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.KeyRange;
import dev.ringfetch.index.v1.PutRequest;
import dev.ringfetch.index.v1.SnapshotRequest;
import dev.ringfetch.index.v1.WatchEvent;
import dev.ringfetch.index.v1.WatchRequest;
import dev.ringfetch.index.v1.WatchResponse;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Watches over a server: what they bring, how they go on, and how each of them ends. */
@Timeout(60)
class WatchTest {
  private static final ByteString ZERO = ByteString.copyFrom(new byte[1]);
  private static final ByteString LARGE = ByteString.copyFrom(new byte[1 << 20]);

  @TempDir Path data;

  private final Random random = new Random(Long.getLong("ringfetch.seed", 20261127));
  private final List<WatchStream> watches = new ArrayList<>();
  private boolean adoptsCopy;
  private Indexes indexes;
  private Server server;
  private ManagedChannel channel;
  private IndexGrpc.IndexBlockingStub index;
  private IndexAdminGrpc.IndexAdminBlockingStub admin;

  private void start(Durability durability) throws IOException {
    indexes =
        new Indexes(
            IndexMemory.ofProcess(
                new IndexMemoryContext()
                    .budget(256L << 20)
                    .dataDirectory(data)
                    .adoptCopy(adoptsCopy)
                    .durability(durability)));
    server =
        ServerBuilder.forPort(0)
            .addService(new IndexService(indexes))
            .addService(new IndexAdminService(indexes))
            .build()
            .start();
    channel =
        ManagedChannelBuilder.forAddress("localhost", server.getPort()).usePlaintext().build();
    index = IndexGrpc.newBlockingStub(channel);
    admin = IndexAdminGrpc.newBlockingStub(channel);
  }

  @AfterEach
  void stop() throws InterruptedException {
    watches.forEach(WatchStream::cancel);
    channel.shutdownNow();
    server.shutdownNow();
    server.awaitTermination();
    indexes.close();
  }

  private void restart(Durability durability) throws Exception {
    stop();
    start(durability);
  }

  private static ByteString key(int number) {
    return ByteString.copyFromUtf8("key " + number);
  }

  private static ByteString text(String text) {
    return ByteString.copyFromUtf8(text);
  }

  private long put(String name, ByteString key, ByteString value) {
    return index
        .put(PutRequest.newBuilder().setIndex(name).setKey(key).setValue(value).build())
        .getVersion();
  }

  private void create(String name, IndexKind kind, Durability durability) {
    final var unused =
        admin.createIndex(
            CreateIndexRequest.newBuilder()
                .setIndex(name)
                .setKind(kind)
                .setDurability(durability)
                .build());
  }

  private WatchStream watch(WatchRequest.Builder request) {
    final WatchStream watch = new WatchStream(channel, request.build());
    watches.add(watch);
    return watch;
  }

  private WatchStream watch(String name) {
    return watch(WatchRequest.newBuilder().setIndex(name));
  }

  private WatchStream watch(String name, ByteString token) {
    return watch(WatchRequest.newBuilder().setIndex(name).setToken(token));
  }

  private static KeyRange only(ByteString key) {
    return KeyRange.newBuilder().setStart(key).setEnd(key.concat(ZERO)).build();
  }

  private static String text(WatchEvent event) {
    return event.getKind()
        + " "
        + event.getKey().toStringUtf8()
        + "="
        + event.getValue().toStringUtf8()
        + (event.getCreated() ? " created" : "");
  }

  private static List<String> texts(List<WatchEvent> events) {
    return events.stream().map(WatchTest::text).toList();
  }

  @Test
  void eachChangeComesWithItsKindAndVersion() throws Exception {
    start(Durability.MEMORY);
    put("", key(1), text("before"));
    final WatchStream watch = watch("");
    final WatchResponse first = watch.next();
    assertEquals(0, first.getEventsCount());
    assertFalse(first.getToken().isEmpty());
    final long second = put("", key(1), text("two"));
    put("", key(1), text("three"));
    final var unused =
        index.compareAndSet(
            CompareAndSetRequest.newBuilder()
                .setKey(key(2))
                .setExpectedVersion(second) // lost: no change
                .setValue(text("no"))
                .build());
    final long compared =
        index
            .compareAndSet(
                CompareAndSetRequest.newBuilder().setKey(key(2)).setValue(text("new")).build())
            .getEntry()
            .getVersion();
    final var deleted = index.delete(DeleteRequest.newBuilder().setKey(key(1)).build());
    assertTrue(deleted.getExisted());
    final var absent = index.delete(DeleteRequest.newBuilder().setKey(key(1)).build());
    assertFalse(absent.getExisted());
    final List<WatchEvent> events = watch.events(4);
    final List<WatchEvent> ofOne =
        events.stream().filter(event -> event.getKey().equals(key(1))).toList();
    assertEquals(List.of("PUT key 1=two", "PUT key 1=three", "DELETE key 1="), texts(ofOne));
    assertEquals(second, ofOne.get(0).getVersion());
    assertTrue(ofOne.get(1).getVersion() > second);
    assertTrue(ofOne.get(2).getVersion() > ofOne.get(1).getVersion());
    final List<WatchEvent> ofTwo =
        events.stream().filter(event -> event.getKey().equals(key(2))).toList();
    assertEquals(List.of("PUT key 2=new created"), texts(ofTwo));
    assertEquals(compared, ofTwo.get(0).getVersion());
  }

  @Test
  void aWatchGoesOnFromATokenWithoutLossAndWithoutRepeating() throws Exception {
    for (final Durability durability :
        List.of(Durability.MEMORY, Durability.INTERVAL, Durability.DISK)) {
      start(durability);
      final WatchStream first = watch("");
      first.next();
      put("", key(1), text("1"));
      put("", key(2), text("2"));
      first.events(2);
      first.cancel();
      put("", key(3), text("3"));
      final WatchStream second = watch("", first.token());
      assertEquals(first.token(), second.next().getToken());
      put("", key(4), text("4"));
      assertEquals( // of two partitions, perhaps: in any order
          Set.of("PUT key 3=3 created", "PUT key 4=4 created"),
          Set.copyOf(texts(second.events(2))));
      if (durability != Durability.MEMORY) {
        final ByteString token = second.token();
        put("", key(5), text("5"));
        restart(durability);
        put("", key(6), text("6"));
        final WatchStream third = watch("", token);
        assertEquals(token, third.next().getToken());
        put("", key(7), text("7"));
        final List<String> rest = new ArrayList<>(texts(third.events(3)));
        rest.sort(null);
        assertEquals(
            List.of("PUT key 5=5 created", "PUT key 6=6 created", "PUT key 7=7 created"), rest);
      }
      final var unused = admin.dropIndex(DropIndexRequest.newBuilder().build());
      stop();
    }
    start(Durability.MEMORY);
  }

  /** The start leaves versions out that may be lost: none of a change is missing. */
  @Test
  void aWatchGoesOnAcrossAStartWhoseJournalHasLostItsBegin() throws Exception {
    start(Durability.INTERVAL);
    create("tree", IndexKind.ORDERED, Durability.INTERVAL);
    for (int i = 0; i < 40; i++) { // more than a segment
      put("tree", key(i), LARGE);
    }
    for (int i = 0; i < 3; i++) {
      final var unused = admin.snapshot(SnapshotRequest.getDefaultInstance());
    }
    await(() -> !Files.exists(data.resolve("journal-0000000001")));
    final WatchStream first = watch("tree");
    final ByteString token = first.next().getToken();
    first.cancel();
    restart(Durability.INTERVAL);
    final WatchStream second = watch("tree", token);
    assertEquals(token, second.next().getToken());
    put("tree", key(1), text("new"));
    assertEquals(List.of("PUT key 1=new"), texts(second.events(1)));
  }

  @Test
  void historyKeepsKindsFlagsAndOrder() throws Exception {
    start(Durability.DISK);
    create("tree", IndexKind.ORDERED, Durability.DISK);
    final WatchStream watch = watch("tree");
    final ByteString begin = watch.next().getToken();
    put("tree", key(1), text("a"));
    put("tree", key(1), text("b"));
    var unused = index.delete(DeleteRequest.newBuilder().setIndex("tree").setKey(key(1)).build());
    final var compared =
        index.compareAndSet(
            CompareAndSetRequest.newBuilder()
                .setIndex("tree")
                .setKey(key(1))
                .setValue(text("c"))
                .build());
    assertTrue(compared.getApplied());
    final List<WatchEvent> live = watch.events(4);
    restart(Durability.DISK);
    final WatchStream later = watch("tree", begin);
    later.next();
    assertEquals(live, later.events(4));
    assertEquals(
        List.of("PUT key 1=a created", "PUT key 1=b", "DELETE key 1=", "PUT key 1=c created"),
        texts(live));
  }

  @Test
  void aHashIndexIsWatchedAsAWholeOrByOneKey() throws Exception {
    start(Durability.MEMORY);
    final WatchStream one = watch(WatchRequest.newBuilder().setRange(only(key(7))));
    one.next();
    final WatchStream keys = watch(WatchRequest.newBuilder().setKeysOnly(true));
    keys.next();
    for (int i = 0; i < 50; i++) {
      put("", key(i), text("v"));
    }
    assertEquals(List.of("PUT key 7=v created"), texts(one.events(1)));
    keys.events(50).forEach(event -> assertTrue(event.getValue().isEmpty()));
    int foreign = 0;
    for (int i = 0; i < 50; i++) { // a token of one key serves its partition alone
      final WatchStream other =
          watch(WatchRequest.newBuilder().setRange(only(key(i))).setToken(one.token()));
      final Object unused = i == 7 ? other.next() : null;
      foreign += i == 7 || indexes.find("").partitionOf(key(i)) == partitionOfSeven() ? 0 : 1;
      if (indexes.find("").partitionOf(key(i)) != partitionOfSeven()) {
        assertEquals(Status.Code.INVALID_ARGUMENT, other.refusal().getCode());
      }
    }
    assertTrue(foreign > 20, "foreign=" + foreign);
    final Status range =
        watch(WatchRequest.newBuilder().setRange(KeyRange.newBuilder().setPrefix(text("k"))))
            .refusal();
    assertEquals(Status.Code.FAILED_PRECONDITION, range.getCode());
  }

  private int partitionOfSeven() {
    return indexes.find("").partitionOf(key(7));
  }

  @Test
  void aRangeOfAnOrderedIndexIsWatchedAlone() throws Exception {
    start(Durability.MEMORY);
    create("tree", IndexKind.ORDERED, Durability.MEMORY);
    final WatchStream watch =
        watch(
            WatchRequest.newBuilder()
                .setIndex("tree")
                .setRange(KeyRange.newBuilder().setPrefix(text("b"))));
    watch.next();
    for (final String name : List.of("a", "b", "ba", "c", "bb", "bc")) {
      put("tree", text(name), text(""));
    }
    assertEquals(
        List.of("b", "ba", "bb", "bc"),
        watch.events(4).stream().map(event -> event.getKey().toStringUtf8()).toList());
  }

  @Test
  void whatCannotBeWatchedIsRefusedWithTheReason() throws Exception {
    start(Durability.MEMORY);
    assertEquals(Status.Code.NOT_FOUND, watch("none").refusal().getCode());
    assertEquals(Status.Code.INVALID_ARGUMENT, watch("", text("nonsense")).refusal().getCode());
    final WatchStream watch = watch("");
    final byte[] token = watch.next().getToken().toByteArray();
    token[20] ^= 1;
    assertEquals(
        Status.Code.INVALID_ARGUMENT, watch("", ByteString.copyFrom(token)).refusal().getCode());
    assertEquals(
        Status.Code.INVALID_ARGUMENT,
        watch(WatchRequest.newBuilder().setProgressMs(1001)).refusal().getCode());
    create("tree", IndexKind.ORDERED, Durability.MEMORY);
    final Status other = watch("tree", watch.token()).refusal();
    assertEquals(Status.Code.ABORTED, other.getCode());
    restart(Durability.MEMORY); // another incarnation
    final Status before = watch("", watch.token()).refusal();
    assertEquals(Status.Code.ABORTED, before.getCode());
    assertTrue(before.getDescription().contains("incarnation"), before.getDescription());
  }

  @Test
  void aWatchEndsWithItsIndex() throws Exception {
    start(Durability.MEMORY);
    final WatchStream watch = watch("");
    watch.next();
    final var unused = admin.dropIndex(DropIndexRequest.newBuilder().build());
    final Status end = watch.end();
    assertEquals(Status.Code.ABORTED, end.getCode());
    assertTrue(end.getDescription().contains("dropped"), end.getDescription());
  }

  @Test
  void aWatchEndsWithItsServerAndHasTheLastToken() throws Exception {
    start(Durability.DISK);
    final WatchStream watch = watch("");
    watch.next();
    put("", key(1), text("1"));
    watch.events(1);
    indexes.endWatches();
    server.shutdown();
    final Status end = watch.end();
    assertEquals(Status.Code.UNAVAILABLE, end.getCode());
    assertTrue(end.getDescription().contains("the server ends"), end.getDescription());
    assertTrue(server.awaitTermination(5, TimeUnit.SECONDS), "watches keep the server");
    restart(Durability.DISK);
    put("", key(2), text("2"));
    assertEquals(List.of("PUT key 2=2 created"), texts(watch("", watch.token()).events(1)));
  }

  /** Begins a watch that has to read the journal, which nobody does before the latch is open. */
  private WatchStream watchWithSlowDisk(CountDownLatch latch) throws Exception {
    start(Durability.DISK);
    final WatchStream first = watch("");
    first.next();
    final ByteString token = first.token();
    put("", key(1), text("1"));
    put("", key(2), text("2"));
    restart(Durability.DISK); // its rings begin behind the token
    indexes
        .memory()
        .threads()
        .historian()
        .execute(
            () -> {
              try {
                latch.await();
              } catch (InterruptedException e) {
                throw new AssertionError(e);
              }
            });
    return watch("", token);
  }

  @Test
  void aWatchThatReadsTheJournalLetsOthersGoOn() throws Exception {
    final CountDownLatch disk = new CountDownLatch(1);
    final WatchStream behind = watchWithSlowDisk(disk);
    behind.next();
    final WatchStream live = watch("");
    live.next();
    put("", key(3), text("3"));
    assertEquals(List.of("PUT key 3=3 created"), texts(live.events(1)));
    assertEquals(3, index.count(CountRequest.getDefaultInstance()).getEntries());
    assertTrue(behind.isEmpty(), "it has read the journal on another thread");
    disk.countDown();
    assertEquals(
        List.of("PUT key 1=1 created", "PUT key 2=2 created", "PUT key 3=3 created"),
        texts(behind.events(3)));
  }

  @Test
  void aWatchThatReadsTheJournalEndsWithItsServerToo() throws Exception {
    final CountDownLatch disk = new CountDownLatch(1);
    final WatchStream behind = watchWithSlowDisk(disk);
    behind.next();
    indexes.endWatches();
    CompletableFuture.runAsync(() -> {}, indexes.memory().threads().watcher())
        .join(); // it was told
    disk.countDown();
    assertEquals(Status.Code.UNAVAILABLE, behind.end().getCode());
  }

  @Test
  void aServerWithoutChangesSaysEachSecondThatItIsThere() throws Exception {
    start(Durability.MEMORY);
    final WatchStream watch = watch("");
    watch.next();
    long before = System.nanoTime();
    for (int i = 0; i < 3; i++) {
      final WatchResponse progress = watch.next();
      assertEquals(0, progress.getEventsCount());
      final long now = System.nanoTime();
      assertTrue(now - before < 2_000_000_000L, "ns=" + (now - before)); // a second, and the load
      before = now;
    }
    final WatchStream often = watch(WatchRequest.newBuilder().setProgressMs(200));
    often.next();
    before = System.nanoTime();
    for (int i = 0; i < 5; i++) {
      often.next();
    }
    assertTrue(System.nanoTime() - before < 4_000_000_000L);
  }

  @Test
  void progressGoesAheadWithChangesOfOtherKeys() throws Exception {
    start(Durability.MEMORY);
    create("tree", IndexKind.ORDERED, Durability.MEMORY);
    final WatchStream watch =
        watch(WatchRequest.newBuilder().setIndex("tree").setRange(only(text("quiet"))));
    watch.next();
    for (int i = 0; i < 40; i++) { // more than the ring keeps: the token is sent in between
      put("tree", key(i % 3), LARGE);
    }
    final ByteString now = watch("tree").next().getToken();
    while (!watch.token().equals(now)) {
      assertEquals(0, watch.next().getEventsCount());
    }
    final ByteString token = watch.token();
    watch.cancel();
    put("tree", text("quiet"), text("now"));
    final WatchStream again =
        watch(
            WatchRequest.newBuilder()
                .setIndex("tree")
                .setRange(only(text("quiet")))
                .setToken(token));
    again.next();
    again.events(1);
  }

  @Test
  void changesThatAreKeptNoMoreAreSaidToBeGone() throws Exception {
    start(Durability.MEMORY);
    create("tree", IndexKind.ORDERED, Durability.MEMORY);
    final ByteString begin = watch("tree").next().getToken();
    for (int i = 0; i < 40; i++) {
      put("tree", key(i), LARGE);
    }
    goneAndThenFromTheOldest("tree", begin);
  }

  private void goneAndThenFromTheOldest(String name, ByteString begin) {
    final WatchStream late = watch(name, begin);
    final Status end = late.end();
    assertEquals(Status.Code.OUT_OF_RANGE, end.getCode());
    final byte[] oldest = late.trailers().get(WatchCall.OLDEST_TOKEN);
    assertTrue(end.getDescription().contains("oldest token="), end.getDescription());
    final WatchStream there = watch(name, ByteString.copyFrom(oldest));
    assertEquals(ByteString.copyFrom(oldest), there.next().getToken());
    final int left = there.next().getEventsCount();
    assertTrue(left > 0, "events=" + left);
  }

  @Test
  void aJournalThatLostItsBeginIsSaidToBeGone() throws Exception {
    start(Durability.DISK);
    create("tree", IndexKind.ORDERED, Durability.DISK);
    final ByteString begin = watch("tree").next().getToken();
    for (int i = 0; i < 75; i++) {
      put("tree", key(i), LARGE);
    }
    final WatchStream all = watch("tree", begin);
    all.next();
    all.events(75);
    try (Stream<Path> files = Files.list(data)) {
      Files.delete(
          files
              .filter(f -> f.getFileName().toString().startsWith("journal-"))
              .sorted()
              .findFirst()
              .orElseThrow());
    }
    goneAndThenFromTheOldest("tree", begin);
  }

  @Test
  void aSlowClientIsToldAndNoOtherWaits() throws Exception {
    start(Durability.MEMORY);
    create("tree", IndexKind.ORDERED, Durability.MEMORY);
    final WatchStream slow = watch("tree"); // takes nothing
    final WatchStream fast = watch("tree");
    fast.next();
    for (int i = 0; i < 60; i++) {
      put("tree", key(i), LARGE);
      fast.events(1);
    }
    final Status end = slow.end();
    assertEquals(Status.Code.RESOURCE_EXHAUSTED, end.getCode());
    assertTrue(end.getDescription().contains("limit=16777216 bytes"), end.getDescription());
  }

  @Test
  void watchesAreLimitedAndLeaveNothing() throws Exception {
    start(Durability.MEMORY);
    create("tree", IndexKind.ORDERED, Durability.MEMORY);
    for (int i = 0; i < WatchCalls.MAX_WATCHES; i++) {
      watch("tree");
    }
    await(() -> indexes.watches().open() == WatchCalls.MAX_WATCHES); // they begin in any order
    final Status refusal = watch("tree").refusal();
    assertEquals(Status.Code.RESOURCE_EXHAUSTED, refusal.getCode());
    assertTrue(refusal.getDescription().contains("limit=1024"), refusal.getDescription());
    watches.forEach(WatchStream::cancel);
    watches.clear();
    await(() -> indexes.watches().open() == 0);
    assertEquals(1, indexes.watches().budget().rings());
    final WatchStream again = watch("tree");
    again.next();
    again.cancel();
    await(() -> indexes.watches().open() == 0);
    indexes
        .watches()
        .clock(() -> System.nanoTime() + TimeUnit.SECONDS.toNanos(WatchCalls.KEEP_SECONDS));
    await(() -> indexes.watches().budget().rings() == 0);
    assertTrue(indexes.watches().isIdle());
  }

  private interface Condition {
    boolean holds();
  }

  private static void await(Condition condition) throws InterruptedException {
    final long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (!condition.holds()) {
      assertTrue(System.nanoTime() - end < 0, "not in time");
      TimeUnit.MILLISECONDS.sleep(5);
    }
  }

  @Test
  void randomWritesComeOnceAndInOrderAcrossReconnects() throws Exception {
    start(Durability.DISK);
    create("tree", IndexKind.ORDERED, Durability.INTERVAL);
    for (final String name : List.of("", "tree")) {
      final Map<ByteString, Long> last = new HashMap<>();
      WatchStream watch = watch(name);
      watch.next();
      int expected = 0;
      int seen = 0;
      for (int round = 0; round < 200; round++) {
        if (random.nextInt(10) == 0) {
          watch.cancel();
          watch = watch(name, watch.token());
          watch.next();
        }
        put(name, key(random.nextInt(20)), text("" + round));
        expected++;
        if (random.nextInt(5) == 0) {
          for (final WatchEvent event : watch.next().getEventsList()) {
            assertTrue(last.getOrDefault(event.getKey(), 0L) < event.getVersion());
            last.put(event.getKey(), event.getVersion());
            seen++;
          }
        }
      }
      while (seen < expected) {
        for (final WatchEvent event : watch.next().getEventsList()) {
          assertTrue(last.getOrDefault(event.getKey(), 0L) < event.getVersion());
          last.put(event.getKey(), event.getVersion());
          seen++;
        }
      }
      assertEquals(expected, seen);
    }
  }

  /**
   * The copy would give versions and positions of its own to what the original goes on to write.
   */
  @Test
  void aTokenOfTheOriginalIsNotOneOfItsCopy(@TempDir Path parent) throws Exception {
    start(Durability.DISK);
    put("", key(1), text("1"));
    stop();
    final Path original = data;
    final Path copy = Files.createDirectory(parent.resolve("copy"));
    try (Stream<Path> files = Files.list(original)) {
      for (final Path file : files.toList()) {
        Files.copy(file, copy.resolve(file.getFileName()));
      }
    }
    start(Durability.DISK);
    final WatchStream watch = watch("");
    watch.next();
    final long version = put("", key(2), text("2"));
    watch.events(1);
    final ByteString token = watch.token();
    stop();
    data = copy;
    final IOException refusal = assertThrows(IOException.class, () -> start(Durability.DISK));
    assertTrue(refusal.getMessage().contains("--adopt-copy"), refusal::getMessage);
    adoptsCopy = true;
    start(Durability.DISK);
    assertEquals(Status.Code.ABORTED, watch("", token).refusal().getCode());
    assertTrue(put("", key(2), text("of the copy")) > version, "a version of the original's");
    final WatchStream adopted = watch("");
    final ByteString next = adopted.next().getToken();
    adoptsCopy = false;
    restart(Durability.DISK);
    put("", key(3), text("3"));
    assertEquals(List.of("PUT key 3=3 created"), texts(watch("", next).events(1)));
    stop();
    data = original;
    start(Durability.DISK);
    put("", key(4), text("4"));
    assertEquals(List.of("PUT key 4=4 created"), texts(watch("", token).events(1)));
  }
}
