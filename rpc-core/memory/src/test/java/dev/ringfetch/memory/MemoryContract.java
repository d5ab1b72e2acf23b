package dev.ringfetch.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What holds for values, broadcasts, counters and locks however clients reach their owner. */
@Timeout(120)
public abstract class MemoryContract {
  private static final int WORDS = 32;
  private static final int RING = 1 << 12;

  MemoryHarness harness;
  Regions regions;

  /** The connection to test. */
  protected abstract MemoryHarness open() throws IOException;

  @BeforeEach
  void start() throws IOException {
    harness = open();
    harness.start();
    regions = harness.regions;
  }

  @AfterEach
  void end() throws Exception {
    if (harness != null) { // not assumed away
      harness.end();
    }
  }

  private OwnedValue<Words> value(String name) {
    return regions.value(name, Words.CODEC, 8 * WORDS);
  }

  private static void assertStatus(Status.Code code, Runnable call) {
    StatusRuntimeException thrown = assertThrows(StatusRuntimeException.class, call::run);
    assertEquals(code, thrown.getStatus().getCode(), thrown.toString());
  }

  @Test
  void valueIsReadAsSet() throws IOException {
    OwnedValue<Words> owned = value("ibm");
    RemoteValue<Words> remote = harness.connect().value("ibm", Words.CODEC);
    assertEquals(new Versioned<>(null, 0), remote.get(), "not set yet");
    long version = 0;
    for (long i = 1; i <= 100; i++) {
      long set = owned.set(Words.of(i, WORDS));
      assertTrue(set > version, "versions grow");
      version = set;
      Versioned<Words> now = remote.get();
      assertEquals(Words.of(i, WORDS), now.value());
      assertEquals(set, now.version());
      assertEquals(now, remote.get());
    }
    owned.set(new Words(0, 0));
    assertEquals(new Words(0, 0), remote.get().value(), "an empty one");
    assertEquals(harness.isDirect() ? 202 : 0, remote.directReads(), remote.obstacle()::toString);
    assertEquals(harness.isDirect(), remote.obstacle().isEmpty());
  }

  @Test
  void valuesHaveALimit() throws IOException {
    assertThrows(IllegalArgumentException.class, () -> regions.value("none", Words.CODEC, 0));
    assertThrows(
        IllegalArgumentException.class, () -> regions.value("long", Words.CODEC, (1 << 20) + 1));
    OwnedValue<Words> owned = regions.value("longest", Words.CODEC, 1 << 20);
    RemoteValue<Words> remote = harness.connect().value("longest", Words.CODEC);
    for (long i = 1; i <= 6; i++) {
      owned.set(new Words(i, 1 << 17));
      assertEquals(new Words(i, 1 << 17), remote.get().value());
    }
    assertThrows(IllegalArgumentException.class, () -> owned.set(new Words(7, (1 << 17) + 1)));
    assertEquals(6, remote.get().value().word(), "the one before");
    OwnedValue<Words> odd = regions.value("odd", Words.CODEC, 13);
    odd.set(new Words(8, 1));
    assertEquals(8, harness.connect().value("odd", Words.CODEC).get().value().word());
  }

  @Test
  void namesAreOfOneKindEach() throws IOException {
    value("value");
    regions.broadcast("broadcast", Words.CODEC, RING);
    regions.counter("counter");
    regions.lock("lock");
    for (String name : List.of("value", "broadcast", "counter", "lock")) {
      assertThrows(IllegalArgumentException.class, () -> regions.counter(name));
      assertThrows(IllegalArgumentException.class, () -> value(name));
    }
    assertThrows(IllegalArgumentException.class, () -> regions.counter(""));
    assertThrows(IllegalArgumentException.class, () -> regions.counter("x".repeat(256)));
    Memory memory = harness.connect();
    Status.Code other = Status.Code.FAILED_PRECONDITION;
    assertStatus(other, () -> memory.value("broadcast", Words.CODEC).get());
    assertStatus(other, () -> memory.broadcast("value", Words.CODEC).fromLatest());
    assertStatus(other, () -> memory.counter("lock").increment());
    assertStatus(other, () -> memory.lock("counter").acquire(Duration.ofSeconds(1)));
    Status.Code none = Status.Code.NOT_FOUND;
    assertStatus(none, () -> memory.value("none", Words.CODEC).get());
    assertStatus(none, () -> memory.broadcast("none", Words.CODEC).fromLatest());
    assertStatus(none, () -> memory.counter("none").increment());
    assertStatus(none, () -> memory.lock("none").acquire(Duration.ofSeconds(1)));
  }

  @Test
  void closedNamesCanBeTakenAnew() throws IOException {
    OwnedValue<Words> owned = value("ibm");
    owned.set(Words.of(1, WORDS));
    Memory memory = harness.connect();
    RemoteValue<Words> remote = memory.value("ibm", Words.CODEC);
    long version = remote.get().version();
    owned.close();
    owned.close();
    assertThrows(IllegalStateException.class, () -> owned.set(Words.of(2, WORDS)));
    assertStatus(Status.Code.NOT_FOUND, remote::get);
    OwnedValue<Words> next = value("ibm");
    next.set(Words.of(2, WORDS));
    Versioned<Words> now = remote.get();
    assertEquals(Words.of(2, WORDS), now.value());
    assertTrue(now.version() > version, now + " after " + version);
  }

  @Test
  void closedBroadcastsCanBeTakenAnew() throws IOException {
    Broadcast<Words> trades = regions.broadcast("trades", Words.CODEC, RING);
    RemoteBroadcast<Words> remote = harness.connect().broadcast("trades", Words.CODEC);
    BroadcastReader<Words> reader = remote.fromLatest();
    List<Words> received = new ArrayList<>();
    trades.publish(Words.of(1, WORDS));
    pollUntil(reader, received, 1);
    trades.close();
    trades.close();
    assertThrows(IllegalStateException.class, () -> trades.publish(Words.of(2, WORDS)));
    assertStatus(Status.Code.NOT_FOUND, () -> reader.poll(received::add));
    Broadcast<Words> next = regions.broadcast("trades", Words.CODEC, RING);
    next.publish(Words.of(3, WORDS));
    assertStatus(Status.Code.ABORTED, () -> reader.poll(received::add));
    BroadcastReader<Words> another = remote.fromLatest();
    next.publish(Words.of(4, WORDS));
    List<Words> last = new ArrayList<>();
    pollUntil(another, last, 1);
    assertEquals(List.of(Words.of(4, WORDS)), last);
    assertEquals(1, received.size());
  }

  @Test
  void nextValueIsAwaited() throws Exception {
    OwnedValue<Words> owned = value("ibm");
    RemoteValue<Words> remote = harness.connect().value("ibm", Words.CODEC);
    assertEquals(Optional.empty(), remote.awaitAfter(0, Duration.ofMillis(20)), "none");
    long first = owned.set(Words.of(1, WORDS));
    assertEquals(
        first, remote.awaitAfter(0, Duration.ofSeconds(30)).orElseThrow().version(), "at once");
    assertEquals(Optional.empty(), remote.awaitAfter(first, Duration.ofMillis(20)));
    for (int i = 0; i < 20; i++) {
      long before = owned.set(Words.of(2L * i, WORDS));
      CompletableFuture<Versioned<Words>> awaited =
          CompletableFuture.supplyAsync(
              () -> remote.awaitAfter(before, Duration.ofSeconds(30)).orElseThrow());
      if (i % 2 == 0) {
        Thread.sleep(2); // then it waits by a call
      }
      long set = owned.set(Words.of(2L * i + 1, WORDS));
      assertEquals(set, awaited.get(30, TimeUnit.SECONDS).version());
    }
  }

  @Test
  void waitingCallsEndWithTheName() throws Exception {
    OwnedValue<Words> owned = value("ibm");
    RemoteValue<Words> remote = harness.connect().value("ibm", Words.CODEC);
    CompletableFuture<Void> awaited =
        CompletableFuture.runAsync(
            () ->
                assertStatus(
                    Status.Code.NOT_FOUND, () -> remote.awaitAfter(0, Duration.ofSeconds(30))));
    Thread.sleep(20);
    owned.close();
    awaited.get(30, TimeUnit.SECONDS);
  }

  @Test
  void messagesComeOnceAndInOrder() throws IOException {
    Broadcast<Words> trades = regions.broadcast("trades", Words.CODEC, RING);
    trades.publish(Words.of(1, WORDS));
    Memory memory = harness.connect();
    BroadcastReader<Words> early = memory.broadcast("trades", Words.CODEC).fromLatest();
    List<Words> received = new ArrayList<>();
    assertEquals(0, early.poll(received::add), "what was before is not read");
    List<Words> published = new ArrayList<>();
    for (long i = 2; i < 500; i++) { // some laps
      Words message = Words.of(i, WORDS);
      published.add(message);
      assertEquals(i, trades.publish(message));
      if (i % 7 == 0) {
        pollUntil(early, received, published.size());
      }
    }
    pollUntil(early, received, published.size());
    assertEquals(published, received);
    assertEquals(0, early.poll(received::add));
    BroadcastReader<Words> late = memory.broadcast("trades", Words.CODEC).fromLatest();
    trades.publish(Words.of(500, WORDS));
    List<Words> last = new ArrayList<>();
    pollUntil(late, last, 1);
    assertEquals(List.of(Words.of(500, WORDS)), last);
    assertEquals(
        harness.isDirect() ? received.size() : 0, early.directReads(), early.obstacle()::toString);
  }

  private static void pollUntil(BroadcastReader<Words> reader, List<Words> received, int count) {
    MemoryHarness.await(
        "messages",
        () -> {
          reader.poll(received::add, count - received.size());
          return received.size() == count;
        });
  }

  @Test
  void lappedReaderIsToldByHowMuch() throws IOException {
    Broadcast<Words> trades = regions.broadcast("trades", Words.CODEC, RING);
    BroadcastReader<Words> reader = harness.connect().broadcast("trades", Words.CODEC).fromLatest();
    AtomicLong next = new AtomicLong(1);
    AtomicLong laps = new AtomicLong();
    BroadcastHandler<Words> handler =
        new BroadcastHandler<>() {
          @Override
          public void onMessage(Words message) {
            message.check(WORDS);
            assertEquals(next.getAndIncrement(), message.word());
          }

          @Override
          public void onLapped(long messages) {
            assertTrue(messages > 0);
            next.addAndGet(messages);
            laps.incrementAndGet();
          }
        };
    long published = 0;
    for (int round = 1; round <= 20; round++) {
      for (int i = 0; i < round * 20; i++) {
        trades.publish(Words.of(++published, WORDS));
      }
      long all = published;
      MemoryHarness.await(
          "messages",
          () -> {
            reader.poll(handler);
            return next.get() > all;
          });
      assertEquals(all + 1, next.get());
    }
    assertTrue(laps.get() >= 10, "laps=" + laps);
  }

  @Test
  void longestMessageIsAQuarter() throws IOException {
    for (int length : new int[] {0, 100, 1 << 11, 5000, 1 << 30}) {
      assertThrows(
          IllegalArgumentException.class, () -> regions.broadcast("ring", Words.CODEC, length));
    }
    longestMessage(RING);
    longestMessage(1 << 20); // longer than a batch
  }

  private void longestMessage(int ring) throws IOException {
    String name = "trades " + ring;
    Broadcast<Words> trades = regions.broadcast(name, Words.CODEC, ring);
    int count = trades.maxMessageLength() / 8;
    assertEquals((ring / 4 - 16) / 8, count);
    assertThrows(IllegalArgumentException.class, () -> trades.publish(new Words(1, count + 1)));
    BroadcastReader<Words> reader = harness.connect().broadcast(name, Words.CODEC).fromLatest();
    for (long i = 1; i < 20; i += 2) {
      List<Words> published = List.of(new Words(i, 1), new Words(i + 1, count));
      published.forEach(trades::publish);
      List<Words> received = new ArrayList<>();
      pollUntil(reader, received, 2);
      assertEquals(published, received);
    }
  }

  /** 73 records of 56 bytes leave 8 of 4096: less than a record's header. */
  @Test
  void readerAtTheRingsEndGoesOn() throws IOException {
    Broadcast<Words> trades = regions.broadcast("trades", Words.CODEC, RING);
    BroadcastReader<Words> reader = harness.connect().broadcast("trades", Words.CODEC).fromLatest();
    for (long i = 1; i < 200; i++) {
      trades.publish(new Words(i, 5));
      List<Words> received = new ArrayList<>();
      pollUntil(reader, received, 1);
      assertEquals(List.of(new Words(i, 5)), received);
      assertEquals(0, reader.poll(received::add));
    }
  }

  @Test
  void messageThatFailsIsNotRepeated() throws IOException {
    Broadcast<Words> trades = regions.broadcast("trades", Words.CODEC, RING);
    BroadcastReader<Words> reader = harness.connect().broadcast("trades", Words.CODEC).fromLatest();
    for (long i = 1; i <= 4; i++) {
      trades.publish(new Words(i, 1));
    }
    List<Long> seen = new ArrayList<>();
    MemoryHarness.await(
        "messages",
        () -> {
          try {
            reader.poll(
                message -> {
                  seen.add(message.word());
                  if (message.word() % 2 == 0) {
                    throw new IllegalStateException("even");
                  }
                });
          } catch (IllegalStateException e) {
            assertEquals("even", e.getMessage());
          }
          return seen.size() >= 4;
        });
    assertEquals(List.of(1L, 2L, 3L, 4L), seen);
  }

  @Test
  void counterCountsForAll() throws IOException {
    Counter orders = regions.counter("orders");
    Memory first = harness.connect();
    RemoteCounter counter = first.counter("orders");
    RemoteCounter other = harness.connect().counter("orders");
    assertEquals(1, counter.increment());
    assertEquals(2, orders.increment());
    assertEquals(12, other.add(10));
    assertEquals(12, orders.get());
    assertEquals(2, orders.add(-10));
    assertEquals(2, counter.get());
    orders.close();
    assertStatus(Status.Code.NOT_FOUND, counter::increment);
  }

  /** An addition, with the times around it. */
  private record Addition(long startNs, long endNs, long sum) {}

  @Test
  void countersAreLinearizable() throws Exception {
    Counter orders = regions.counter("orders");
    Memory memory = harness.connect();
    List<LongSupplier> sides = new ArrayList<>();
    sides.add(orders::increment);
    sides.add(memory.counter("orders")::increment);
    sides.add(harness.connect().counter("orders")::increment);
    List<CompletableFuture<List<Addition>>> threads = new ArrayList<>();
    for (LongSupplier side : sides) {
      threads.add(CompletableFuture.supplyAsync(() -> add(side), task -> new Thread(task).start()));
    }
    List<Addition> all = new ArrayList<>();
    for (CompletableFuture<List<Addition>> thread : threads) {
      all.addAll(thread.get(60, TimeUnit.SECONDS));
    }
    all.sort(Comparator.comparingLong(Addition::sum));
    long latestStartNs = Long.MIN_VALUE;
    for (int i = 0; i < all.size(); i++) {
      Addition addition = all.get(i);
      assertEquals(i + 1, addition.sum(), "each sum once");
      // None that has come to a larger sum had ended before one with a smaller sum began.
      assertTrue(addition.endNs() >= latestStartNs, "sum=" + addition.sum());
      latestStartNs = Math.max(latestStartNs, addition.startNs());
    }
  }

  private static List<Addition> add(LongSupplier side) {
    List<Addition> additions = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      long startNs = System.nanoTime();
      long sum = side.getAsLong();
      additions.add(new Addition(startNs, System.nanoTime(), sum));
    }
    return additions;
  }

  @Test
  void threadsAndClientsExcludeEachOther() throws Exception {
    OwnerLock lock = regions.lock("printer");
    RemoteLock remote = harness.connect().lock("printer");
    RemoteLock other = harness.connect().lock("printer");
    Duration wait = Duration.ofSeconds(60);
    List<Supplier<LockHold>> sides =
        List.of(
            () -> lock.acquire(wait).orElseThrow(),
            () -> lock.acquire(wait).orElseThrow(),
            () -> remote.acquire(wait).orElseThrow(),
            () -> other.acquire(wait).orElseThrow());
    long[] state = new long[2]; // count and fence: not atomic, the lock makes them so
    List<CompletableFuture<Void>> threads = new ArrayList<>();
    for (Supplier<LockHold> side : sides) {
      threads.add(
          CompletableFuture.runAsync(
              () -> {
                for (int i = 0; i < 50; i++) {
                  try (LockHold hold = side.get()) {
                    assertTrue(hold.fence() > state[1], hold + " after " + state[1]);
                    state[1] = hold.fence();
                    state[0]++;
                    assertTrue(lock.isHeldBy(hold.fence()));
                  }
                }
              },
              task -> new Thread(task).start()));
    }
    for (CompletableFuture<Void> thread : threads) {
      thread.get(100, TimeUnit.SECONDS);
    }
    assertEquals(200, state[0]);
  }

  @Test
  void lockIsHeldByOne() throws Exception {
    OwnerLock lock = regions.lock("printer");
    RemoteLock remote = harness.connect().lock("printer");
    Duration wait = Duration.ofSeconds(30);
    Duration moment = Duration.ofMillis(20);
    LockHold first = lock.acquire(wait).orElseThrow();
    assertEquals(Optional.empty(), remote.acquire(moment));
    assertEquals(Optional.empty(), lock.acquire(moment));
    assertTrue(first.isHeld());
    assertTrue(lock.isHeldBy(first.fence()));
    first.close();
    first.close();
    assertFalse(first.isHeld());
    LockHold second = remote.acquire(wait).orElseThrow();
    assertTrue(second.fence() > first.fence());
    assertTrue(second.isHeld());
    assertTrue(lock.isHeldBy(second.fence()));
    first.close();
    assertTrue(lock.isHeldBy(second.fence()), "an earlier holder releases nothing");
    assertEquals(Optional.empty(), lock.acquire(moment));
    CompletableFuture<LockHold> third =
        CompletableFuture.supplyAsync(() -> lock.acquire(wait).orElseThrow());
    second.close();
    LockHold hold = third.get(30, TimeUnit.SECONDS);
    assertTrue(hold.fence() > second.fence());
    hold.close();
  }

  @Test
  void lockOfAClientThatGoesIsFree() throws Exception {
    OwnerLock lock = regions.lock("printer");
    Memory memory = harness.connect();
    LockHold hold = memory.lock("printer").acquire(Duration.ofSeconds(30)).orElseThrow();
    ((ManagedChannel) memory.channel()).shutdownNow();
    LockHold next = lock.acquire(Duration.ofSeconds(30)).orElseThrow();
    assertTrue(next.fence() > hold.fence());
    MemoryHarness.await("the loss", () -> !hold.isHeld());
    next.close();
  }

  @Test
  void ownersEndIsSeen() throws Exception {
    OwnedValue<Words> owned = value("ibm");
    owned.set(Words.of(1, WORDS));
    Memory memory = harness.connect();
    RemoteValue<Words> remote = memory.value("ibm", Words.CODEC);
    assertNotNull(remote.get());
    regions.lock("printer");
    LockHold hold = memory.lock("printer").acquire(Duration.ofSeconds(30)).orElseThrow();
    CompletableFuture<Void> waiting =
        CompletableFuture.runAsync(
            () ->
                assertThrows(
                    StatusRuntimeException.class,
                    () -> memory.lock("printer").acquire(Duration.ofSeconds(30))));
    Thread.sleep(20);
    regions.close();
    regions.close();
    assertStatus(Status.Code.NOT_FOUND, remote::get);
    assertThrows(IllegalStateException.class, () -> regions.counter("late"));
    waiting.get(30, TimeUnit.SECONDS);
    hold.close();
  }

  @Test
  void readersBesideAWriterSeeWholeValuesThatGoForward() throws Exception {
    OwnedValue<Words> owned = value("ibm");
    Broadcast<Words> trades = regions.broadcast("trades", Words.CODEC, 1 << 14);
    owned.set(Words.of(0, WORDS));
    Memory memory = harness.connect();
    long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(300);
    List<CompletableFuture<Void>> readers = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      RemoteValue<Words> remote = memory.value("ibm", Words.CODEC);
      BroadcastReader<Words> reader = memory.broadcast("trades", Words.CODEC).fromLatest();
      readers.add(CompletableFuture.runAsync(() -> readUntil(endNs, remote, reader)));
    }
    long word = 0;
    while (System.nanoTime() < endNs) {
      owned.set(Words.of(++word, WORDS));
      trades.publish(Words.of(word, WORDS));
    }
    for (CompletableFuture<Void> reader : readers) {
      reader.get(60, TimeUnit.SECONDS);
    }
  }

  private static void readUntil(
      long endNs, RemoteValue<Words> remote, BroadcastReader<Words> reader) {
    long last = 0;
    long[] next = {-1};
    BroadcastHandler<Words> handler =
        new BroadcastHandler<>() {
          @Override
          public void onMessage(Words message) {
            message.check(WORDS);
            assertTrue(next[0] == -1 || next[0] == message.word(), next[0] + " " + message.word());
            next[0] = message.word() + 1;
          }

          @Override
          public void onLapped(long messages) {
            next[0] += next[0] == -1 ? 0 : messages;
          }
        };
    while (System.nanoTime() < endNs) {
      Words now = remote.get().value();
      now.check(WORDS);
      assertTrue(now.word() >= last, now.word() + " after " + last);
      last = now.word();
      reader.poll(handler);
    }
  }
}
