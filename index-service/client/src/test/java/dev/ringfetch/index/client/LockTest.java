package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.client.UnreliableWrites.Fate;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Locks of clients of a server in this JVM; {@link LockProcessTest} has processes that end. */
@Timeout(120)
final class LockTest {
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final Duration SHORT = Duration.ofMillis(600);

  @TempDir Path directory;
  private final UnreliableWrites writes = new UnreliableWrites();
  private TestServer server;
  private ManagedChannel channel;
  private IndexClient client;
  private IndexClient other;

  @BeforeEach
  void start() throws IOException {
    server = TestServer.start(directory);
    channel = server.channel(writes);
    client = server.builder(channel).build();
    other = server.connect();
  }

  @AfterEach
  void stop() {
    other.close();
    client.close();
    channel.shutdownNow();
    server.close();
  }

  private static LockHold acquired(IndexLock lock, Duration timeout) {
    return lock.acquire(timeout).orElseThrow();
  }

  private static LockHold tried(IndexLock lock) {
    return acquired(lock, Duration.ZERO);
  }

  private static Supplier<Fate> first(int count, Fate fate) {
    final AtomicInteger left = new AtomicInteger(count);
    return () -> left.getAndDecrement() > 0 ? fate : Fate.NONE;
  }

  private HashIndex<String, String> entries() {
    return other.hash(IndexLock.INDEX, Codec.string(), Codec.string());
  }

  private static void awaitLoss(LockHold hold) throws Exception {
    hold.lost().toCompletableFuture().get(60, TimeUnit.SECONDS);
    assertFalse(hold.isHeld());
  }

  @Test
  void oneHolderAtATimeAndEachWithALargerFence() {
    final IndexLock lock = client.lock("a").holder("first one");
    final IndexLock others = other.lock("a");
    assertEquals(Optional.empty(), lock.presentHolder());
    final LockHold hold = tried(lock);
    assertTrue(hold.isHeld());
    assertEquals(Optional.of("first one"), others.presentHolder());
    assertEquals(Optional.empty(), others.acquire(Duration.ZERO));
    assertEquals(Optional.empty(), lock.acquire(Duration.ZERO), "not reentrant");
    assertEquals(Optional.empty(), others.acquire(Duration.ofMillis(50)));
    assertTrue(other.lock("b").acquire(Duration.ZERO).isPresent(), "another lock");
    hold.close();
    hold.close();
    assertFalse(hold.isHeld());
    final LockHold next = tried(others);
    assertTrue(next.fence() > hold.fence());
    assertTrue(next.isHeld());
    assertThrows(IllegalArgumentException.class, () -> lock.ttl(Duration.ofMillis(99)));
    entries().put("c", "hand");
    assertEquals(Optional.of("hand"), client.lock("c").presentHolder(), "as somebody wrote it");
  }

  @Test
  void aReleaseWakesAWaiterLongBeforeTheEndOfTheTime() throws Exception {
    final LockHold hold = tried(client.lock("a").ttl(LONG));
    final List<CompletableFuture<Long>> waiting = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      waiting.add(
          CompletableFuture.supplyAsync(
              () -> {
                try (LockHold own = acquired(other.lock("a").ttl(LONG), LONG)) {
                  return own.fence();
                }
              }));
    }
    Thread.sleep(100); // most of them wait by now, and it is right without
    final long beginNs = System.nanoTime();
    hold.close();
    long before = hold.fence();
    for (final long fence : waiting.stream().map(CompletableFuture::join).sorted().toList()) {
      assertTrue(fence > before);
      before = fence;
    }
    final long tookNs = System.nanoTime() - beginNs;
    assertTrue(tookNs < LONG.toNanos() / 2, "ns=" + tookNs);
  }

  /** No change tells of it. */
  @Test
  void aReleaseBeforeTheWatchBeginsIsNoticed() {
    final LockHold hold = tried(other.lock("a").ttl(LONG));
    final ClientInterceptor releasing =
        new ClientInterceptor() {
          @Override
          public <Q, R> ClientCall<Q, R> interceptCall(
              MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
            if ("Watch".equals(method.getBareMethodName())) {
              hold.close();
            }
            return next.newCall(method, options);
          }
        };
    final ManagedChannel released = server.channel(releasing);
    try (IndexClient waiter = server.builder(released).build()) {
      final LockHold next = acquired(waiter.lock("a"), Duration.ofSeconds(10));
      assertTrue(next.fence() > hold.fence());
    } finally {
      released.shutdownNow();
    }
  }

  @Test
  void aHolderThatRenewsStays() throws Exception {
    final LockHold hold = tried(client.lock("a").ttl(Duration.ofSeconds(4)));
    final long endNs = System.nanoTime() + Duration.ofSeconds(6).toNanos();
    while (System.nanoTime() < endNs) {
      assertEquals(Optional.empty(), other.lock("a").acquire(Duration.ofMillis(100)));
    }
    assertTrue(hold.isHeld());
    hold.close();
    assertTrue(other.lock("a").acquire(Duration.ZERO).isPresent());
    assertFalse(hold.lost().toCompletableFuture().isDone(), "it was released");
  }

  @Test
  void theLockOfAHolderThatIsGoneIsFreeAfterItsTime() {
    final long fence;
    try (IndexClient gone = server.connect()) {
      fence = tried(gone.lock("a").ttl(SHORT)).fence();
    }
    assertTrue(acquired(other.lock("a"), LONG).fence() > fence);
  }

  @Test
  void whoCannotReachTheServerIsToldBeforeOthersComeIn() throws Exception {
    final IndexLock lock = client.lock("a").ttl(SHORT);
    tried(lock).close(); // the index is there, and the client has numbers
    final LockHold hold = tried(lock);
    writes.fates = () -> Fate.SILENT;
    final LockHold next = acquired(other.lock("a"), LONG);
    assertFalse(hold.isHeld());
    assertTrue(next.fence() > hold.fence());
    awaitLoss(hold);
    hold.close(); // without effect
    assertTrue(next.isHeld());
  }

  @Test
  void whoeverRemovesTheEntryTakesTheLockAway() throws Exception {
    final LockHold hold = tried(client.lock("a").ttl(Duration.ofSeconds(3)));
    assertTrue(entries().remove("a"));
    final LockHold next = tried(other.lock("a").ttl(LONG));
    awaitLoss(hold);
    hold.close();
    assertTrue(next.isHeld());
    assertTrue(entries().get("a").isPresent(), "it is not the entry of the first one");
  }

  @Test
  void aServerThatEndsTakesTheLockAway() throws Exception {
    final LockHold hold = tried(client.lock("a").ttl(SHORT));
    final CountDownLatch told = new CountDownLatch(1);
    final var unused = hold.lost().thenRun(told::countDown);
    server.close();
    assertTrue(told.await(60, TimeUnit.SECONDS));
    assertFalse(hold.isHeld());
  }

  @Test
  void anAcquisitionWhoseAnswerIsLostIsFoundAgain() {
    final IndexLock lock = client.lock("a").ttl(LONG);
    tried(lock).close();
    writes.fates = first(1, Fate.ANSWER_LATE);
    final LockHold hold = acquired(lock, LONG);
    assertTrue(hold.isHeld());
    assertEquals(hold.fence(), entries().getEntry("a").orElseThrow().version());
    hold.close();
    assertEquals(Optional.empty(), entries().get("a"));
  }

  @Test
  void aRenewalWhoseAnswerIsLostIsFoundAgain() throws Exception {
    final IndexLock lock = client.lock("a").ttl(Duration.ofSeconds(4));
    tried(lock).close();
    final LockHold hold = tried(lock);
    writes.fates = first(1, Fate.ANSWER_LATE);
    final long endNs = System.nanoTime() + Duration.ofSeconds(6).toNanos();
    while (System.nanoTime() < endNs) {
      assertEquals(Optional.empty(), other.lock("a").acquire(Duration.ofMillis(100)));
    }
    assertTrue(hold.isHeld());
    writes.fates = first(1, Fate.ANSWER_LATE);
    Thread.sleep(2_000); // a renewal is not known to have been carried out
    writes.fates = () -> Fate.NONE;
    hold.close();
    assertTrue(other.lock("a").acquire(Duration.ZERO).isPresent(), "its own entry was removed");
  }

  /**
   * By a clock that stands while nothing moves it: the end is that of the last answered renewal.
   */
  @Test
  void theTimeCountsFromTheBeginOfTheLastRenewal() throws Exception {
    final ManualThreads threads = new ManualThreads(null);
    try (IndexClient slow = server.builder(channel).threads(threads).build()) {
      final IndexLock lock = slow.lock("a").ttl(Duration.ofSeconds(10));
      final LockHold hold = tried(lock);
      final long fence = hold.fence();
      assertEquals(2, threads.waiting(), "a renewal, and the look at the end");
      threads.advance(TimeUnit.MILLISECONDS.toNanos(3_334)); // renews
      while (threads.waiting() < 2) { // it is answered: the next one waits
        Thread.sleep(1); // the test's timeout ends it
      }
      assertTrue(entries().getEntry("a").orElseThrow().version() > fence, "it was renewed");
      assertEquals(fence, hold.fence());
      writes.fates = () -> Fate.SILENT;
      threads.advance(TimeUnit.MILLISECONDS.toNanos(8_900));
      assertTrue(hold.isHeld(), "until nine seconds after the renewal");
      threads.advance(TimeUnit.MILLISECONDS.toNanos(101));
      assertFalse(hold.isHeld());
      awaitLoss(hold);
    }
  }

  @Test
  void aLateReleaseLeavesTheNextHolderAlone() throws Exception {
    try (IndexClient slow = server.builder(channel).threads(new ManualThreads(null)).build()) {
      final LockHold hold = tried(slow.lock("a").ttl(LONG));
      assertTrue(entries().remove("a"));
      final LockHold next = tried(other.lock("a").ttl(LONG));
      assertTrue(hold.isHeld(), "it has not looked yet");
      hold.close();
      assertEquals(next.fence(), entries().getEntry("a").orElseThrow().version());
    }
  }

  @Test
  void aHolderThatWasPausedKnowsBeforeAnyTimerRuns() throws Exception {
    final ManualThreads threads = new ManualThreads(null);
    try (IndexClient slow = server.builder(channel).threads(threads).build()) {
      final LockHold hold = tried(slow.lock("a").ttl(Duration.ofSeconds(10)));
      threads.pause(TimeUnit.MILLISECONDS.toNanos(8_999));
      assertTrue(hold.isHeld());
      threads.pause(TimeUnit.MILLISECONDS.toNanos(2));
      assertFalse(hold.isHeld());
      assertFalse(hold.lost().toCompletableFuture().isDone());
      threads.advance(0);
      awaitLoss(hold);
    }
  }

  @Test
  void anInterruptedWaiterEndsAndLeavesNothing() throws Exception {
    final LockHold hold = tried(client.lock("a").ttl(LONG));
    final CompletableFuture<IndexException> ended = new CompletableFuture<>();
    final Thread waiter =
        new Thread(
            () -> {
              try {
                ended.completeExceptionally(
                    new AssertionError(other.lock("a").acquire(LONG).toString()));
              } catch (IndexException e) {
                ended.complete(e);
              }
            });
    waiter.start();
    Thread.sleep(100);
    waiter.interrupt();
    assertEquals(Status.Code.CANCELLED, ended.get(60, TimeUnit.SECONDS).code());
    hold.close();
    assertEquals(Optional.empty(), entries().get("a"));
  }
}
