package dev.ringfetch.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.Scribbler.Manner;
import dev.ringfetch.index.direct.DirectContext;
import dev.ringfetch.index.direct.DirectReader;
import dev.ringfetch.index.direct.DirectValue;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.BatchPutResponse;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.CreateIndexResponse;
import dev.ringfetch.index.v1.GetRequest;
import dev.ringfetch.index.v1.GetResponse;
import dev.ringfetch.index.v1.IndexAdminGrpc;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.PutEntry;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process of the same user writes to the memory of a server's indexes, or truncates it, while
 * clients read by calls and directly. Reads end with the right value or with an error; no process
 * dies; an index whose memory is untouched is served throughout.
 *
 * <p>One index is in the first segment alone, as are the buckets of the other, the victim, most of
 * whose blocks are in the segments after it.
 */
@Timeout(120)
class HostileProcessTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 1);
  private static final String OTHER = "other";
  private static final String VICTIM = "victim";
  private static final int OTHERS = 300;
  private static final int VICTIMS = 2_000;
  private static final int SHORT = 16;
  private static final int LONG = 4_000;
  private static final int BATCH = 250;

  /** Of a read that damage can end. */
  private static final Set<Status.Code> ERRORS =
      Set.of(Status.Code.ABORTED, Status.Code.DATA_LOSS, Status.Code.UNAVAILABLE);

  private final AtomicLong right = new AtomicLong();
  private final AtomicLong direct = new AtomicLong();
  private final AtomicLong errors = new AtomicLong();
  private final AtomicLong missing = new AtomicLong();

  @TempDir Path shm;
  @TempDir Path data;

  private ServerProcess server;
  private ManagedChannel channel;

  @BeforeEach
  void start() throws Exception {
    System.out.println("ringfetch.seed=" + SEED);
    server =
        ServerProcess.start("--port=0", "--shm-directory=" + shm, "--data=" + data, "--memory=60M");
    channel =
        ManagedChannelBuilder.forAddress("localhost", server.awaitPort()).usePlaintext().build();
    createHash(OTHER);
    createHash(VICTIM);
    load(OTHER, OTHERS, SHORT);
    load(VICTIM, VICTIMS, SHORT); // its tables have their size now
    load(VICTIM, VICTIMS, LONG);
  }

  @AfterEach
  void stop() {
    channel.shutdownNow();
    server.close();
  }

  @Test
  void blocksThatAreWrittenToAreNeverReadWrong() throws Exception {
    scribbleBlocks(500);
  }

  @Test
  @Tag("slow")
  void blocksThatAreWrittenToForLongAreNeverReadWrong() throws Exception {
    scribbleBlocks(15_000);
  }

  private void scribbleBlocks(int durationMs) throws Exception {
    final List<Path> later = segments().subList(1, segments().size());
    try (Scribbler hostile = Scribbler.start(Manner.SCRIBBLE, SEED, later)) {
      hostile.awaitBegin();
      final long endNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(durationMs);
      readUntil(() -> System.nanoTime() - endNs > 0 && right.get() > 1_000 && errors.get() > 0);
    }
    report("scribbled blocks");
    assertTrue(direct.get() > 0, "no read was direct");
    assertEquals(0, missing.get(), "entries that were not found");
    assertServes();
    assertOthers();
  }

  /** Readers have no checksum of buckets: entries may seem absent, none shows another value. */
  @Test
  @Tag("slow")
  void memoryThatIsWrittenToAnywhereShowsNoWrongValue() throws Exception {
    final List<Path> files = new ArrayList<>(segments());
    files.addAll(files("-admission-"));
    try (Scribbler hostile = Scribbler.start(Manner.SCRIBBLE, SEED, files)) {
      hostile.awaitBegin();
      final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
      readUntil(() -> System.nanoTime() - endNs > 0 && errors.get() > 0);
    }
    report("scribbled memory");
    assertServes();
  }

  @Tag("slow")
  @Test
  void truncatedSegmentsEndReadsOfTheirIndexOnly() throws Exception {
    try (DirectReader reader = openReader(OTHER)) {
      assertTrue(reader.isDirect(), reader::obstacle);
      final List<Path> later = segments().subList(1, segments().size());
      final Callable<Void> hostile =
          () -> {
            while (right.get() < 500) {
              Thread.sleep(1);
            }
            try (Scribbler truncating = Scribbler.start(Manner.TRUNCATE, SEED, later)) {
              truncating.awaitEnd();
            }
            return null;
          };
      final ExecutorService thread = Executors.newSingleThreadExecutor();
      final Future<Void> done = thread.submit(hostile);
      readUntil(() -> done.isDone() && errors.get() > 0);
      done.get(60, TimeUnit.SECONDS);
      thread.shutdown();
      report("truncated segments");
      assertEquals(0, missing.get(), "entries that were not found");
      assertServes();
      assertOthers();
      final DirectValue found = new DirectValue();
      assertTrue(reader.get(key(1), found));
      assertEquals(value(OTHER, 1, SHORT), found.value());
    }
  }

  @Test
  @Tag("slow")
  void truncatedMemoryAndGateEndAllReadsWithAnError() throws Exception {
    final List<Path> files = new ArrayList<>(segments());
    files.add(data.resolve("gate"));
    try (DirectReader reader = openReader(OTHER)) {
      assertTrue(reader.isDirect(), reader::obstacle);
      try (Scribbler hostile = Scribbler.start(Manner.TRUNCATE, SEED, files)) {
        hostile.awaitEnd();
      }
      final DirectValue found = new DirectValue();
      for (int i = 0; i < 50; i++) {
        final int key = i;
        assertEnds(() -> reader.get(key(key), found));
        assertEnds(() -> getByCall(OTHER, key).hasEntry());
        assertEnds(() -> getByCall(VICTIM, key).hasEntry());
      }
      assertFalse(reader.isDirect());
      assertTrue(reader.turns() > 0);
      assertServes();
    }
  }

  /** The word of the gate: closed for all, the server's own reads too. */
  @Test
  @Tag("slow")
  void gateThatIsWrittenToIsClosed() throws Exception {
    try (DirectReader reader = openReader(OTHER)) {
      assertTrue(reader.isDirect(), reader::obstacle);
      try (Scribbler hostile = Scribbler.start(Manner.GATE, SEED, List.of(data.resolve("gate")))) {
        hostile.awaitBegin();
        final DirectValue found = new DirectValue();
        final long startNs = System.nanoTime();
        while (reader.turns() == 0) {
          assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(20), "not closed");
          try {
            assertTrue(reader.get(key(1), found));
            assertEquals(value(OTHER, 1, SHORT), found.value());
          } catch (StatusRuntimeException e) {
            assertTrue(ERRORS.contains(e.getStatus().getCode()), e::toString);
          }
        }
      }
    }
    final StatusRuntimeException closed = assertEnds(() -> getByCall(OTHER, 1).hasEntry());
    assertEquals(Status.Code.UNAVAILABLE, closed.getStatus().getCode());
    assertTrue(closed.getStatus().getDescription().contains("gate"), closed::toString);
    assertServes();
  }

  /** Reads both indexes, in all ways. */
  private void readUntil(BooleanSupplier done) throws Exception {
    final long limitNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    final BooleanSupplier ended =
        () -> {
          assertTrue(System.nanoTime() - limitNs < 0, "right=" + right + " errors=" + errors);
          return done.getAsBoolean();
        };
    final ExecutorService threads = Executors.newCachedThreadPool();
    try {
      final List<Future<Void>> readers = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        final Random random = new Random(SEED + i);
        readers.add(threads.submit(() -> readDirectly(VICTIM, VICTIMS, LONG, random, ended)));
        readers.add(threads.submit(() -> readByCalls(VICTIM, VICTIMS, LONG, random, ended)));
      }
      final Random random = new Random(SEED + 2);
      readers.add(threads.submit(() -> readDirectly(OTHER, OTHERS, SHORT, random, ended)));
      readers.add(threads.submit(() -> readByCalls(OTHER, OTHERS, SHORT, random, ended)));
      for (final Future<Void> reader : readers) {
        reader.get(90, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private Void readDirectly(
      String index, int keys, int length, Random random, BooleanSupplier ended) {
    final DirectValue found = new DirectValue();
    try (DirectReader reader = openReader(index)) {
      while (!ended.getAsBoolean()) {
        final int key = random.nextInt(keys);
        try {
          check(index, key, length, reader.get(key(key), found) ? found.value() : null);
        } catch (StatusRuntimeException e) {
          failed(index, e);
        }
      }
      direct.addAndGet(reader.directReads());
    }
    return null;
  }

  private Void readByCalls(
      String index, int keys, int length, Random random, BooleanSupplier ended) {
    while (!ended.getAsBoolean()) {
      final int key = random.nextInt(keys);
      try {
        final GetResponse response = getByCall(index, key);
        check(index, key, length, response.hasEntry() ? response.getEntry().getValue() : null);
      } catch (StatusRuntimeException e) {
        failed(index, e);
      }
    }
    return null;
  }

  private void check(String index, int key, int length, ByteString found) {
    if (found == null) {
      missing.incrementAndGet();
    } else {
      assertEquals(value(index, key, length), found, "index=" + index + " key=" + key);
      right.incrementAndGet();
    }
  }

  private void failed(String index, StatusRuntimeException e) {
    assertTrue(ERRORS.contains(e.getStatus().getCode()), () -> "index=" + index + ": " + e);
    errors.incrementAndGet();
  }

  private void report(String what) {
    System.out.printf(
        "%s: right=%s direct=%s errors=%s missing=%s%n", what, right, direct, errors, missing);
  }

  /** A read that finds no memory. */
  private static StatusRuntimeException assertEnds(Callable<Boolean> read) throws Exception {
    try {
      throw new AssertionError("answered: " + read.call());
    } catch (StatusRuntimeException e) {
      assertTrue(ERRORS.contains(e.getStatus().getCode()), e::toString);
      return e;
    }
  }

  private void assertServes() {
    assertTrue(server.isAlive());
    assertEquals(
        ServingStatus.SERVING,
        HealthGrpc.newBlockingStub(channel)
            .withDeadlineAfter(30, TimeUnit.SECONDS)
            .check(HealthCheckRequest.getDefaultInstance())
            .getStatus());
  }

  private void assertOthers() {
    for (int i = 0; i < OTHERS; i++) {
      assertEquals(value(OTHER, i, SHORT), getByCall(OTHER, i).getEntry().getValue());
    }
  }

  /** The segments, in their order. */
  private List<Path> segments() throws IOException {
    final List<Path> segments = new ArrayList<>();
    for (int i = 0; segments.size() == i; i++) {
      segments.addAll(files("-segment-" + i + "$"));
    }
    assertTrue(segments.size() > 2, segments::toString);
    return segments;
  }

  private List<Path> files(String part) throws IOException {
    final String expression = ".*" + part + (part.endsWith("$") ? "" : ".*");
    try (Stream<Path> files = Files.walk(shm)) {
      return files.filter(file -> file.getFileName().toString().matches(expression)).toList();
    }
  }

  private GetResponse getByCall(String index, int key) {
    return stub().get(GetRequest.newBuilder().setIndex(index).setKey(key(key)).build());
  }

  private IndexGrpc.IndexBlockingStub stub() {
    return IndexGrpc.newBlockingStub(channel).withDeadlineAfter(30, TimeUnit.SECONDS);
  }

  private DirectReader openReader(String index) {
    return DirectReader.open(channel, index, new DirectContext().shmDirectory(shm));
  }

  private void createHash(String index) {
    final CreateIndexResponse unused =
        IndexAdminGrpc.newBlockingStub(channel)
            .createIndex(
                CreateIndexRequest.newBuilder().setIndex(index).setKind(IndexKind.HASH).build());
  }

  private void load(String index, int count, int length) {
    for (int first = 0; first < count; first += BATCH) {
      final BatchPutRequest.Builder batch = BatchPutRequest.newBuilder().setIndex(index);
      for (int i = first; i < Math.min(count, first + BATCH); i++) {
        batch.addEntries(
            PutEntry.newBuilder().setKey(key(i)).setValue(value(index, i, length)).build());
      }
      final BatchPutResponse response = stub().batchPut(batch.build());
      response.getOutcomesList().forEach(outcome -> assertEquals(0, outcome.getCode()));
    }
  }

  private static ByteString key(int number) {
    return ByteString.copyFromUtf8("key" + number);
  }

  /** Bytes that follow from index and key. */
  private static ByteString value(String index, int key, int length) {
    final byte[] bytes = new byte[length];
    new Random(31L * key + index.hashCode()).nextBytes(bytes);
    return ByteString.copyFrom(bytes);
  }
}
