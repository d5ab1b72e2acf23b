package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.rpc.RingChannelBuilder;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every wait ends: servers that do not answer, callers that stop waiting, clients that close. */
final class FailureTest {
  private static final Duration SHORT = Duration.ofMillis(400);
  private static final Duration LONGER = Duration.ofMillis(800); // for several steps
  private static final Duration FIRST = Duration.ofSeconds(5); // beside other programs
  private static final long LIMIT_SECONDS = 30;

  /** Codes of calls that end with their client. */
  private static final Set<Status.Code> ENDED =
      Set.of(Status.Code.UNAVAILABLE, Status.Code.CANCELLED);

  @TempDir Path directory;
  private final StuckIndex stuck = new StuckIndex();
  private TestServer server;
  private IndexClient client;
  private HashIndex<String, String> index;

  @BeforeEach
  void start() throws IOException {
    server = TestServer.startWith(directory, stuck, new TreeAdmin());
    client = server.builder().deadline(Duration.ofMinutes(5)).build(); // none ends by it
    index = client.hash("stuck", Codec.string(), Codec.string());
  }

  @AfterEach
  void stop() {
    client.close();
    server.close();
  }

  private static Throwable cause(CompletableFuture<?> future) {
    return assertThrows(ExecutionException.class, () -> future.get(LIMIT_SECONDS, TimeUnit.SECONDS))
        .getCause();
  }

  /** Runs an action on a thread of its own. */
  private static final class Caller {
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final AtomicReference<Boolean> interrupted = new AtomicReference<>();
    private final Thread thread;

    Caller(Runnable action) {
      thread =
          new Thread(
              () -> {
                try {
                  action.run();
                } catch (RuntimeException | Error e) {
                  failure.set(e);
                }
                interrupted.set(Thread.currentThread().isInterrupted());
              });
      thread.start();
    }

    Throwable failure() throws InterruptedException {
      thread.join(TimeUnit.SECONDS.toMillis(LIMIT_SECONDS));
      assertFalse(thread.isAlive(), "it still waits");
      return failure.get();
    }
  }

  @Test
  void aServerThatDoesNotAnswerIsNotWaitedForBeyondTheDeadline() {
    final HashIndex<String, String> brief = index.deadline(SHORT);
    final long beginNs = System.nanoTime();
    final DeadlineException read = assertThrows(DeadlineException.class, () -> brief.get("a"));
    assertTrue(System.nanoTime() - beginNs >= SHORT.toNanos());
    assertEquals(Status.Code.DEADLINE_EXCEEDED, read.code());
    assertFalse(read.isOutcomeUnknown());
    final DeadlineException write =
        assertThrows(DeadlineException.class, () -> brief.put("a", "b"));
    assertTrue(write.isOutcomeUnknown());
    assertTrue(write.getMessage().contains("the outcome is unknown"), write.getMessage());
    assertInstanceOf(DeadlineException.class, cause(brief.async().get("a")));
    assertTrue(((IndexException) cause(brief.async().put("a", "b"))).isOutcomeUnknown());
    final OrderedIndex<String, String> ordered =
        client.ordered("stuck", Codec.string(), Codec.string()).deadline(SHORT);
    assertThrows(DeadlineException.class, () -> ordered.scan().snapshot().toList());
    assertThrows(IllegalArgumentException.class, () -> index.deadline(Duration.ZERO));
  }

  @Test
  void aPortThatNobodyServesIsNotWaitedForBeyondTheDeadline() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        IndexClient other =
            IndexClient.builder()
                .target("localhost:" + socket.getLocalPort())
                .deadline(SHORT)
                .build()) {
      final HashIndex<String, String> silent = other.hash("a", Codec.string(), Codec.string());
      assertThrows(DeadlineException.class, () -> silent.get("a"));
      assertThrows(DeadlineException.class, () -> silent.access(Access.DIRECT).get("a"));
      assertInstanceOf(DeadlineException.class, cause(silent.async().put("a", "b")));
    }
  }

  /** Without a deadline that is set, the first call has time to load classes and to connect. */
  @Test
  void theFirstCallMayTakeLonger() {
    final long graceNs = Duration.ofMillis(600).toNanos();
    final ManagedChannel channel =
        RingChannelBuilder.forTarget(server.target()).usePlaintext().build();
    try {
      final IndexCalls calls =
          new IndexCalls(
              channel,
              null,
              ClientMetrics.NONE,
              new ClientThreads(null),
              new ConnectionState(null, new ClientThreads(null)),
              new InFlightLimit(1_024),
              graceNs);
      final Subject subject = new Subject(Operation.GET, "stuck", null);
      final Call<GetRequest, GetResponse> get =
          Call.reading(IndexGrpc.getGetMethod(), GetRequest.getDefaultInstance());
      final long beginNs = System.nanoTime();
      assertThrows(
          DeadlineException.class, () -> calls.call(calls.begin(subject, SHORT.toNanos()), get));
      assertTrue(System.nanoTime() - beginNs >= SHORT.toNanos() + graceNs);
      stuck.answering = true;
      calls.call(calls.begin(subject, Duration.ofSeconds(30).toNanos()), get);
      assertTrue(calls.begin(subject, SHORT.toNanos()).leftNs() <= SHORT.toNanos());
      calls.close();
    } finally {
      channel.shutdownNow();
    }
  }

  @Test
  void aWrongAddressIsNamed() throws IOException {
    final int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    try (IndexClient other =
        IndexClient.builder().target("localhost:" + port).deadline(LONGER).build()) {
      final HashIndex<String, String> wrong = other.hash("a", Codec.string(), Codec.string());
      final HashIndex<String, String> first = wrong.deadline(FIRST); // loads classes, too
      final UnavailableException read =
          assertThrows(UnavailableException.class, () -> first.get("a"));
      assertTrue(read.getMessage().contains("localhost"), read.getMessage());
      final UnavailableException write =
          assertThrows(UnavailableException.class, () -> wrong.put("a", "b"));
      assertFalse(write.isOutcomeUnknown());
      final UnavailableException removal =
          assertThrows(UnavailableException.class, () -> wrong.remove("a"));
      assertFalse(removal.isOutcomeUnknown(), removal::getMessage);
      assertThrows(UnavailableException.class, () -> wrong.access(Access.DIRECT).get("a"));
      assertInstanceOf(UnavailableException.class, cause(wrong.async().remove("a")));
    }
  }

  @Test
  void readsAreRepeatedUntilTheDeadlineAndWritesNever() {
    stuck.failures = 4;
    stuck.answering = true;
    assertEquals(Optional.empty(), index.get("a"));
    assertEquals(5, stuck.gets.get());
    stuck.gets.set(0);
    assertEquals(Optional.empty(), index.async().get("a").join());
    assertEquals(5, stuck.gets.get());
    stuck.gets.set(0);
    stuck.failures = Integer.MAX_VALUE;
    final HashIndex<String, String> brief = index.deadline(SHORT);
    final UnavailableException read =
        assertThrows(UnavailableException.class, () -> brief.get("a"));
    assertEquals("on purpose", read.description());
    assertInstanceOf(UnavailableException.class, cause(brief.async().get("a")));
    assertInstanceOf(UnavailableException.class, cause(brief.async().update("a", value -> "b")));
    final UnavailableException write =
        assertThrows(UnavailableException.class, () -> index.put("a", "b"));
    assertTrue(write.isOutcomeUnknown());
    assertEquals(1, stuck.puts.get());
    assertInstanceOf(UnavailableException.class, cause(index.async().put("a", "b")));
    assertEquals(2, stuck.puts.get());
  }

  /** The deadline passes before the request leaves: nobody need ask what became of it. */
  @Test
  void aWriteThatWasNotSentIsKnownNotToBeCarriedOut() throws IOException {
    final HashIndex<String, String> late = index.deadline(Duration.ofNanos(1));
    for (final Runnable write :
        List.<Runnable>of(
            () -> late.put("a", "b"),
            () -> late.remove("a"),
            () -> late.putIfAbsent("a", "b"),
            () -> late.compareAndSet("a", 1, "b"),
            () -> late.update("a", value -> "b"),
            () -> late.putAll(Map.of("a", "b")))) {
      isUnsent(assertThrows(DeadlineException.class, write::run));
    }
    isUnsent(assertInstanceOf(DeadlineException.class, cause(late.async().put("a", "b"))));
    isUnsent(assertInstanceOf(DeadlineException.class, cause(late.async().remove("a"))));
    assertEquals(0, stuck.puts.get());
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        IndexClient other =
            IndexClient.builder()
                .target("localhost:" + socket.getLocalPort())
                .exactlyOnce(false)
                .deadline(SHORT)
                .build()) {
      final HashIndex<String, String> silent = other.hash("a", Codec.string(), Codec.string());
      isUnsent(assertThrows(DeadlineException.class, () -> silent.remove("a")));
      isUnsent(assertInstanceOf(DeadlineException.class, cause(silent.async().remove("a"))));
    }
  }

  private static void isUnsent(IndexException e) {
    assertFalse(e.isOutcomeUnknown(), e::getMessage);
    assertTrue(e.getMessage().contains("it was not sent"), e::getMessage);
  }

  /** gRPC says UNKNOWN where a server was killed under a call. */
  @Test
  void aConnectionThatClosesUnderACallIsUnavailable() {
    isUnavailable(
        Status.UNKNOWN.withDescription("channel closed").withCause(new ClosedChannelException()));
  }

  /** gRPC says CANCELLED where a server ended its calls at once. */
  @Test
  void aCallThatTheServerResetsIsUnavailable() {
    isUnavailable(
        Status.CANCELLED.withDescription("RST_STREAM closed stream. HTTP/2 error code: CANCEL"));
  }

  private void isUnavailable(Status closed) {
    final ManagedChannel channel =
        server.channel(new WatchTest.Replaced(Status.Code.UNAVAILABLE, closed));
    stuck.failures = Integer.MAX_VALUE;
    try (IndexClient other = server.builder(channel).deadline(LONGER).build()) {
      final HashIndex<String, String> lost = other.hash("a", Codec.string(), Codec.string());
      for (final Runnable operation :
          List.<Runnable>of(() -> lost.get("a"), () -> lost.put("a", "b"))) {
        final UnavailableException e = assertThrows(UnavailableException.class, operation::run);
        assertEquals(Status.Code.UNAVAILABLE, e.code());
        assertTrue(e.getMessage().contains("connection to the server ended"), e::getMessage);
      }
    } finally {
      channel.shutdownNow();
    }
  }

  @Test
  void aCallerThatIsInterruptedStopsWaiting() throws Exception {
    final OrderedIndex<String, String> ordered =
        client.ordered("stuck", Codec.string(), Codec.string());
    for (final Runnable wait :
        List.<Runnable>of(
            () -> index.get("a"),
            () -> index.put("a", "b"),
            () -> ordered.scan().snapshot().toList())) {
      final Caller caller = new Caller(wait);
      stuck.received.acquire();
      caller.thread.interrupt();
      final IndexException e = assertInstanceOf(IndexException.class, caller.failure());
      assertEquals(Status.Code.CANCELLED, e.code());
      assertTrue(caller.interrupted.get(), "the thread stays interrupted");
      assertTrue(stuck.cancelled.tryAcquire(LIMIT_SECONDS, TimeUnit.SECONDS));
    }
  }

  @Test
  void aFutureThatIsCancelledCancelsItsCall() throws Exception {
    final CompletableFuture<Optional<String>> future = index.async().get("a");
    stuck.received.acquire();
    assertTrue(future.cancel(true));
    assertTrue(stuck.cancelled.tryAcquire(LIMIT_SECONDS, TimeUnit.SECONDS));
  }

  @Test
  void closeEndsTheCallsThatAreUnderWay() throws Exception {
    final List<Caller> callers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      callers.add(new Caller(() -> index.get("a")));
      stuck.received.acquire();
    }
    final CompletableFuture<Long> put = index.async().put("a", "b");
    stuck.received.acquire();
    client.close();
    for (final Caller caller : callers) {
      final IndexException e = assertInstanceOf(IndexException.class, caller.failure());
      assertTrue(ENDED.contains(e.code()), e::getMessage);
    }
    final IndexException e = assertInstanceOf(IndexException.class, cause(put));
    assertTrue(ENDED.contains(e.code()), e::getMessage);
    assertTrue(e.isOutcomeUnknown());
  }

  @Test
  void aClientThatIsClosedRefusesOperations() {
    client.close();
    client.close();
    final OrderedIndex<String, String> ordered =
        client.ordered("stuck", Codec.string(), Codec.string());
    for (final Runnable operation :
        List.<Runnable>of(
            () -> index.get("a"),
            () -> index.put("a", "b"),
            () -> index.putAll(Map.of("a", "b")),
            () -> index.access(Access.DIRECT).get("a"),
            () -> ordered.scan().toList(),
            () -> ordered.scan().snapshot().toList(),
            () -> ordered.deleteRange(Range.all()),
            () -> client.indexes())) {
      assertThrows(IllegalStateException.class, operation::run);
    }
    assertInstanceOf(IllegalStateException.class, cause(index.async().get("a")));
    assertInstanceOf(IllegalStateException.class, cause(ordered.async().toList(ordered.scan())));
  }

  @Test
  void aChannelOfTheCallersStaysOpen() {
    final ManagedChannel channel =
        RingChannelBuilder.forTarget(server.target()).usePlaintext().build();
    try {
      stuck.answering = true;
      try (IndexClient other = IndexClient.builder().channel(channel).build()) {
        assertEquals(Optional.empty(), other.hash("a", Codec.string(), Codec.string()).get("a"));
      }
      assertFalse(channel.isShutdown());
    } finally {
      channel.shutdownNow();
    }
    assertThrows(IllegalStateException.class, () -> IndexClient.builder().build());
    assertThrows(
        IllegalStateException.class,
        () -> IndexClient.builder().channel(channel).target("localhost:1").build());
  }

  @Test
  void updatesThatAlwaysLoseEndWithTheDeadline() {
    stuck.answering = true;
    assertEquals(Optional.empty(), index.get("a")); // connects
    final HashIndex<String, String> brief = index.deadline(LONGER);
    final DeadlineException e =
        assertThrows(DeadlineException.class, () -> brief.update("a", value -> "b"));
    assertTrue(e.getMessage().contains("attempts="), e.getMessage());
    assertInstanceOf(DeadlineException.class, cause(brief.async().update("a", value -> "b")));
  }

  @Test
  void aFullServerNamesItsLimitAndGoesOnReading(@TempDir Path other) throws IOException {
    try (TestServer small = TestServer.start(other, 16L << 20);
        IndexClient writer = small.connect()) {
      final HashIndex<Long, byte[]> values = writer.hash("values", Codec.int64(), Codec.bytes());
      long written = 0;
      FullException full = null;
      while (full == null) {
        try {
          values.put(written, new byte[100_000]);
          written++;
        } catch (FullException e) {
          full = e;
        }
      }
      assertTrue(written > 0);
      assertEquals(Status.Code.RESOURCE_EXHAUSTED, full.code());
      assertTrue(full.description().contains("limit="), full.getMessage());
      assertFalse(full.isOutcomeUnknown());
      final Map<Long, byte[]> tooMuch = new LinkedHashMap<>();
      for (long i = written; i < written + 200; i++) {
        tooMuch.put(i, new byte[100_000]);
      }
      final FullException batch = assertThrows(FullException.class, () -> values.putAll(tooMuch));
      final Matcher failed = Pattern.compile("failed=(\\d+) of=200").matcher(batch.getMessage());
      assertTrue(failed.find(), batch.getMessage());
      written += 200 - Integer.parseInt(failed.group(1));
      assertEquals(written, values.count());
      assertTrue(values.get(0L).isPresent());
      assertTrue(values.remove(0L));
      assertEquals(written - 1, values.count());
    }
  }
}
