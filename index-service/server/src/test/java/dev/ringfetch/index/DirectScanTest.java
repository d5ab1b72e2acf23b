package dev.ringfetch.index;

import static com.google.common.util.concurrent.Uninterruptibles.awaitUninterruptibly;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.direct.DirectReader;
import dev.ringfetch.index.direct.DirectScan;
import dev.ringfetch.index.direct.DirectSink;
import dev.ringfetch.index.direct.DirectValue;
import dev.ringfetch.index.layout.TreeDescriptor;
import dev.ringfetch.index.store.ScanChecker;
import dev.ringfetch.index.v1.BatchPutRequest;
import dev.ringfetch.index.v1.BatchPutResponse;
import dev.ringfetch.index.v1.CreateIndexRequest;
import dev.ringfetch.index.v1.CreateIndexResponse;
import dev.ringfetch.index.v1.DeleteRangeRequest;
import dev.ringfetch.index.v1.DeleteRangeResponse;
import dev.ringfetch.index.v1.DirectAccessGrpc;
import dev.ringfetch.index.v1.DropIndexRequest;
import dev.ringfetch.index.v1.GrantResponse;
import dev.ringfetch.index.v1.IndexGrpc;
import dev.ringfetch.index.v1.IndexKind;
import dev.ringfetch.index.v1.KeyRange;
import dev.ringfetch.index.v1.PutEntry;
import dev.ringfetch.index.v1.PutOutcome;
import dev.ringfetch.index.v1.ReleaseRequest;
import dev.ringfetch.index.v1.ScanRequest;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Direct reads and scans of an ordered index, of a server in this JVM. */
@Timeout(value = 60, threadMode = ThreadMode.SEPARATE_THREAD)
class DirectScanTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 27);

  /** Entries of a leaf at most. */
  private static final int LEAF = 48;

  private static final String INDEX = "ordered";

  /** Beside a writer: each is looked through for each key. */
  private static final int MOST_SCANS = 150;

  /** Bytes of a segment's file before its memory. */
  private static final int HEADER = 4 << 10;

  /**
   * Bytes of a segment's file that are left when it is cleared: the words that all indexes have.
   */
  private static final int WORDS = 8 << 10;

  private static final ByteString NOTHING = ByteString.EMPTY;

  private final Random random = new Random(SEED);
  private final NavigableMap<ByteString, ByteString> model =
      new TreeMap<>(ByteString.unsignedLexicographicalComparator());

  @TempDir Path directory;

  private DirectServer server;

  @BeforeEach
  void start() throws Exception {
    System.out.println("ringfetch.seed=" + SEED);
    server = DirectServer.start(directory);
    create();
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private void create() {
    final CreateIndexResponse unused =
        server
            .admin()
            .createIndex(
                CreateIndexRequest.newBuilder().setIndex(INDEX).setKind(IndexKind.ORDERED).build());
  }

  private static ByteString key(int number) {
    return ByteString.copyFromUtf8(
        (number % 3 == 0 ? "a long common head of keys " : "") + String.format("%05d", number));
  }

  private ByteString value(int number) {
    return ByteString.copyFromUtf8(number + ":" + "x".repeat(random.nextInt(100)));
  }

  /** Writes keys, and notes them. */
  private List<PutOutcome> put(int first, int count, int step) {
    final BatchPutRequest.Builder batch = BatchPutRequest.newBuilder().setIndex(INDEX);
    for (int i = 0; i < count; i++) {
      final ByteString value = value(first + i * step);
      batch.addEntries(PutEntry.newBuilder().setKey(key(first + i * step)).setValue(value));
      model.put(key(first + i * step), value);
    }
    final BatchPutResponse response = server.index().batchPut(batch.build());
    response.getOutcomesList().forEach(outcome -> assertEquals(0, outcome.getCode()));
    return response.getOutcomesList();
  }

  private void delete(KeyRange range) {
    DeleteRangeResponse response;
    do {
      response =
          server
              .index()
              .deleteRange(DeleteRangeRequest.newBuilder().setIndex(INDEX).setRange(range).build());
    } while (response.getMore());
    expected(range, false).keySet().forEach(model::remove);
  }

  /** The entries of a range, in the order of a scan. */
  private NavigableMap<ByteString, ByteString> expected(KeyRange range, boolean reverse) {
    final NavigableMap<ByteString, ByteString> part = new TreeMap<>(model.comparator());
    model.forEach(
        (key, value) -> {
          if (model.comparator().compare(key, range.getStart()) >= 0
              && (range.getEnd().isEmpty() || model.comparator().compare(key, range.getEnd()) < 0)
              && key.startsWith(range.getPrefix())) {
            part.put(key, value);
          }
        });
    return reverse ? part.descendingMap() : part;
  }

  private ByteString bound() {
    return switch (random.nextInt(4)) {
      case 0 -> NOTHING;
      case 1 -> key(random.nextInt(20_000)).concat(ByteString.copyFrom(new byte[1]));
      default -> key(random.nextInt(20_000));
    };
  }

  private KeyRange range() {
    final ByteString prefix = key(random.nextInt(20_000));
    return KeyRange.newBuilder()
        .setStart(bound())
        .setEnd(bound())
        .setPrefix(
            random.nextInt(3) == 0 ? prefix.substring(0, random.nextInt(prefix.size())) : NOTHING)
        .build();
  }

  /** Reads a scan to its end, in pieces of a random number of entries. */
  private List<ByteString> read(DirectReader reader, ScanRequest request, List<ByteString> values) {
    final DirectScan scan = new DirectScan(request);
    final List<ByteString> keys = new ArrayList<>();
    boolean more = true;
    while (more) {
      final int piece = 1 + random.nextInt(2_000);
      final int before = keys.size();
      more =
          reader.scan(
              scan,
              entry -> {
                keys.add(entry.key());
                values.add(entry.value());
                assertTrue(entry.version() > 0);
                return keys.size() - before < piece;
              });
    }
    assertTrue(scan.isDone());
    assertFalse(reader.scan(scan, entry -> true));
    return keys;
  }

  private void assertScan(DirectReader reader, KeyRange range) {
    final boolean reverse = random.nextBoolean();
    final boolean keysOnly = random.nextInt(4) == 0;
    final int limit = random.nextInt(3) == 0 ? 1 + random.nextInt(100) : 0;
    final List<ByteString> values = new ArrayList<>();
    final List<ByteString> keys =
        read(
            reader,
            ScanRequest.newBuilder()
                .setRange(range)
                .setReverse(reverse)
                .setKeysOnly(keysOnly)
                .setLimit(limit)
                .build(),
            values);
    final NavigableMap<ByteString, ByteString> entries = expected(range, reverse);
    final int most = limit == 0 ? entries.size() : Math.min(limit, entries.size());
    assertEquals(List.copyOf(entries.keySet()).subList(0, most), keys, "seed=" + SEED);
    if (keysOnly) {
      values.forEach(value -> assertEquals(NOTHING, value));
    } else {
      assertEquals(List.copyOf(entries.values()).subList(0, most), values, "seed=" + SEED);
    }
  }

  private void assertGets(DirectReader reader, int count) {
    final List<ByteString> keys = new ArrayList<>();
    final DirectValue[] values = new DirectValue[count];
    for (int i = 0; i < count; i++) {
      keys.add(key(random.nextInt(20_000)));
      values[i] = new DirectValue();
    }
    final boolean[] present = new boolean[count];
    reader.batchGet(keys, values, present);
    final DirectValue one = new DirectValue();
    for (int i = 0; i < count; i++) {
      final ByteString expected = model.get(keys.get(i));
      assertEquals(expected != null, present[i], "seed=" + SEED);
      assertEquals(expected != null, reader.get(keys.get(i), one), "seed=" + SEED);
      if (expected != null) {
        assertEquals(expected, values[i].value());
        assertEquals(expected, one.value());
        assertEquals(values[i].version(), one.version());
      }
    }
  }

  /** Three levels of nodes come and go, and the reader remembers those that were. */
  @ParameterizedTest
  @ValueSource(ints = {0, 8, 4096})
  void answersAsAMapDoesAfterRandomWrites(int cachedNodes) throws Exception {
    final ManagedChannel channel = server.newChannel();
    try (DirectReader reader =
        DirectReader.open(channel, INDEX, server.context().cachedNodes(cachedNodes))) {
      assertTrue(reader.isDirect(), reader::obstacle);
      for (int step = 0; step < 12; step++) {
        if (random.nextInt(3) == 0) {
          delete(range());
        } else {
          put(random.nextInt(10_000), 1_000, 1 + random.nextInt(7));
        }
        assertGets(reader, 50);
        assertScan(reader, range());
        assertScan(reader, KeyRange.getDefaultInstance());
      }
      assertEquals(0, reader.callReads());
      assertEquals(0, reader.scanCalls());
      assertTrue(reader.directReads() > 5_000, "direct=" + reader.directReads());
    } finally {
      channel.shutdownNow();
    }
  }

  /** Scans of both ways, beside a thread whose calls fill and empty leaves. */
  @Test
  void scansKeepTheirContractBesideAWriter() throws Exception {
    final ScanChecker checker = new ScanChecker();
    final AtomicLong clock = new AtomicLong();
    final Random writes = new Random(SEED);
    final List<ScanChecker.Scan> scans = new ArrayList<>();
    final Thread writer =
        new Thread(
            () -> {
              for (int i = 0; i < 30; i++) {
                final int first = writes.nextInt(4_000);
                final long begin = clock.incrementAndGet();
                final List<PutOutcome> outcomes = put(first, 400, 1);
                for (int j = 0; j < outcomes.size(); j++) {
                  checker.became(
                      key(first + j), outcomes.get(j).getVersion(), begin, clock.incrementAndGet());
                }
                // Those of one kind lie side by side.
                final KeyRange gone =
                    KeyRange.newBuilder()
                        .setStart(key(3 * writes.nextInt(1_000) + 1))
                        .setEnd(key(3 * (1_000 + writes.nextInt(400)) + 1))
                        .build();
                final List<ByteString> removed = List.copyOf(expected(gone, false).keySet());
                final long from = clock.incrementAndGet();
                delete(gone);
                final long to = clock.incrementAndGet();
                removed.forEach(key -> checker.became(key, 0, from, to));
              }
            });
    try (DirectReader reader = server.openReader(INDEX)) {
      assertTrue(reader.isDirect(), reader::obstacle);
      writer.start();
      for (int i = 0; i < 2 || (writer.isAlive() && i < MOST_SCANS); i++) {
        final boolean reverse = i % 2 == 1;
        Thread.sleep(1);
        final ScanRequest request = ScanRequest.newBuilder().setReverse(reverse).build();
        final List<ScanChecker.Result> results = new ArrayList<>();
        final long from = clock.incrementAndGet();
        final boolean more =
            reader.scan(
                new DirectScan(request),
                entry -> results.add(new ScanChecker.Result(entry.key(), entry.version())));
        assertFalse(more);
        scans.add(
            new ScanChecker.Scan(
                reverse, NOTHING, NOTHING, results, from, clock.incrementAndGet()));
      }
      writer.join();
      scans.forEach(checker::check);
      System.out.printf(
          "scans=%d direct=%d called=%d retries=%d%n",
          scans.size(), reader.directReads(), reader.callReads(), reader.retries());
      assertTrue(reader.directReads() > reader.callReads(), "direct=" + reader.directReads());
    }
  }

  /** The entries that come are those before and after; the way changes in between. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void scanGoesOnByCallsWhenItsGrantEnds(boolean reverse) throws Exception {
    put(0, 5_000, 1);
    final Tokens tokens = new Tokens();
    final ManagedChannel channel = server.newChannel();
    final Channel watched = ClientInterceptors.intercept(channel, tokens);
    try (DirectReader reader = DirectReader.open(watched, INDEX, server.context())) {
      final List<ByteString> keys = new ArrayList<>();
      final int[] direct = new int[1];
      final DirectSink releasing =
          entry -> {
            keys.add(entry.key());
            if (reader.scanCalls() == 0) {
              direct[0] = keys.size();
            }
            if (keys.size() == 1_234) {
              assertTrue(
                  DirectAccessGrpc.newBlockingStub(channel)
                      .withDeadlineAfter(30, TimeUnit.SECONDS)
                      .release(ReleaseRequest.newBuilder().setToken(tokens.last.getToken()).build())
                      .getExisted());
            }
            return true;
          };
      assertTrue(reader.isDirect(), reader::obstacle);
      final ScanRequest request = ScanRequest.newBuilder().setReverse(reverse).build();
      assertFalse(reader.scan(new DirectScan(request), releasing));
      assertEquals(List.copyOf(expected(request.getRange(), reverse).keySet()), keys);
      assertTrue(reader.scanCalls() > 0, "calls=" + reader.scanCalls());
      assertEquals(1, reader.turns());
      // What had been read of the leaf when the grant ended is given; nothing after it.
      assertTrue(direct[0] >= 1_234 && direct[0] < 1_234 + LEAF, "direct=" + direct[0]);
      await(reader);
      final long calls = reader.scanCalls();
      assertFalse(reader.scan(new DirectScan(request), entry -> true));
      assertEquals(calls, reader.scanCalls());
    } finally {
      channel.shutdownNow();
    }
  }

  /** Another process of the same user clears the memory of nodes and entries. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void scanOfDamagedMemoryEndsWithAStatus(boolean reverse) throws Exception {
    put(0, 5_000, 1);
    final Tokens tokens = new Tokens();
    final ManagedChannel channel = server.newChannel();
    final Channel watched = ClientInterceptors.intercept(channel, tokens);
    try (DirectReader reader = DirectReader.open(watched, INDEX, server.context())) {
      final List<ByteString> keys = new ArrayList<>();
      final DirectSink clearing =
          entry -> {
            keys.add(entry.key());
            if (keys.size() == 1_234) {
              clear(tokens.last);
            }
            return true;
          };
      final DirectScan scan = new DirectScan(ScanRequest.newBuilder().setReverse(reverse).build());
      final StatusRuntimeException ended =
          assertThrows(StatusRuntimeException.class, () -> reader.scan(scan, clearing));
      assertTrue(
          List.of(Status.Code.ABORTED, Status.Code.DATA_LOSS, Status.Code.UNAVAILABLE)
              .contains(ended.getStatus().getCode()),
          ended::toString);
      final List<ByteString> all =
          List.copyOf(expected(KeyRange.getDefaultInstance(), reverse).keySet());
      assertEquals(all.subList(0, keys.size()), keys);
      assertTrue(keys.size() >= 1_234 && keys.size() < 1_234 + LEAF, "keys=" + keys.size());
      assertTrue(reader.retries() > 0 && reader.scanCalls() > 0, "retries=" + reader.retries());
    } finally {
      channel.shutdownNow();
    }
  }

  /** Clears all but the words that all indexes have, and the index's root. */
  private void clear(GrantResponse grant) {
    final String rootSegment = "-segment-" + (grant.getRoot() >>> grant.getSegmentShift());
    final int root = HEADER + (int) (grant.getRoot() & ((1L << grant.getSegmentShift()) - 1));
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.filter(path -> path.toString().contains("-segment-")).toList()) {
        final int kept = file.toString().endsWith(rootSegment) ? root : WORDS;
        try (RandomAccessFile segment = new RandomAccessFile(file.toFile(), "rw")) {
          segment.seek(WORDS);
          segment.write(new byte[Math.max(0, kept - WORDS)]);
          segment.seek(Math.max(WORDS, kept + TreeDescriptor.LENGTH));
          segment.write(new byte[(int) (segment.length() - segment.getFilePointer())]);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits until the reader has its next grant. */
  private static void await(DirectReader reader) throws InterruptedException {
    final long startNs = System.nanoTime();
    final DirectValue value = new DirectValue();
    while (!reader.isDirect()) {
      assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(20), reader::obstacle);
      final boolean unused = reader.get(key(0), value);
      Thread.sleep(1);
    }
  }

  /** As pages do, whose tokens name the index that they are of. */
  @Test
  void scanOfADroppedIndexIsAborted() throws Exception {
    put(0, 5_000, 1);
    try (DirectReader reader = server.openReader(INDEX)) {
      final DirectScan scan = new DirectScan(ScanRequest.getDefaultInstance());
      final int[] count = new int[1];
      assertTrue(reader.scan(scan, entry -> ++count[0] < 1_500));
      drop();
      create();
      put(0, 100, 1);
      for (int i = 0; i < 2; i++) { // by calls, and perhaps directly again
        final StatusRuntimeException aborted =
            assertThrows(StatusRuntimeException.class, () -> reader.scan(scan, entry -> true));
        assertEquals(Status.Code.ABORTED, aborted.getStatus().getCode());
      }
      await(reader);
      final StatusRuntimeException aborted =
          assertThrows(StatusRuntimeException.class, () -> reader.scan(scan, entry -> true));
      assertEquals(Status.Code.ABORTED, aborted.getStatus().getCode());
      assertScan(reader, KeyRange.newBuilder().setStart(key(4_990)).build());
    }
  }

  private void drop() {
    assertTrue(
        server
            .admin()
            .dropIndex(DropIndexRequest.newBuilder().setIndex(INDEX).build())
            .getExisted());
    model.clear();
  }

  @Test
  void scanThatHasGivenNothingGoesOnInAnotherIndex() throws Exception {
    put(0, 10, 1);
    try (DirectReader reader = server.openReader(INDEX)) {
      final DirectScan scan = new DirectScan(ScanRequest.getDefaultInstance());
      drop();
      create();
      put(100, 20, 1);
      final List<ByteString> keys = new ArrayList<>();
      assertFalse(reader.scan(scan, entry -> keys.add(entry.key())));
      assertEquals(List.copyOf(model.keySet()), keys);
    }
  }

  @Test
  void rangesThatNothingHasAreRefusedAsByCalls() throws Exception {
    final ByteString tooLong = ByteString.copyFrom(new byte[1_026]);
    try (DirectReader reader = server.openReader(INDEX);
        DirectReader hash = server.openReader("")) {
      final ScanRequest request =
          ScanRequest.newBuilder().setRange(KeyRange.newBuilder().setEnd(tooLong)).build();
      assertStatus(Status.Code.INVALID_ARGUMENT, reader, request);
      assertTrue(hash.isDirect(), hash::obstacle);
      assertStatus(Status.Code.FAILED_PRECONDITION, hash, ScanRequest.getDefaultInstance());
      assertThrows(
          IllegalArgumentException.class,
          () -> new DirectScan(ScanRequest.newBuilder().setSnapshot(true).build()));
      assertTrue(reader.isDirect(), reader::obstacle);
    }
  }

  private static void assertStatus(Status.Code code, DirectReader reader, ScanRequest request) {
    final StatusRuntimeException refused =
        assertThrows(
            StatusRuntimeException.class,
            () -> reader.scan(new DirectScan(request), entry -> true));
    assertEquals(code, refused.getStatus().getCode());
  }

  /** The place behind a key of the greatest length is a byte longer. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void longestKeysComeOnceByCallsToo(boolean granted) throws Exception {
    final byte[] bytes = new byte[1_024];
    final BatchPutRequest.Builder batch = BatchPutRequest.newBuilder().setIndex(INDEX);
    for (int i = 0; i < 256; i++) {
      Arrays.fill(bytes, i % 2 == 0 ? (byte) i : (byte) 0xFF);
      bytes[0] = (byte) i;
      final ByteString key = ByteString.copyFrom(bytes);
      batch.addEntries(PutEntry.newBuilder().setKey(key));
      model.put(key, NOTHING);
    }
    final BatchPutResponse unused = server.index().batchPut(batch.build());
    final ManagedChannel channel = server.newChannel();
    try (DirectReader reader =
        DirectReader.open(
            channel, INDEX, granted ? server.context() : server.context().fabrics(new String[0]))) {
      assertEquals(granted, reader.isDirect());
      for (boolean reverse : new boolean[] {false, true}) {
        final List<ByteString> keys =
            read(
                reader,
                ScanRequest.newBuilder().setReverse(reverse).setPageSize(1).build(),
                new ArrayList<>());
        assertEquals(List.copyOf(expected(KeyRange.getDefaultInstance(), reverse).keySet()), keys);
      }
      assertEquals(granted ? 0 : 2 * 256, reader.callReads());
    } finally {
      channel.shutdownNow();
    }
  }

  @Test
  void sinkThatThrowsLeavesTheScanBehindItsEntry() throws Exception {
    put(0, 100, 1);
    try (DirectReader reader = server.openReader(INDEX)) {
      final DirectScan scan = new DirectScan(ScanRequest.getDefaultInstance());
      final List<ByteString> keys = new ArrayList<>();
      final DirectSink failing =
          entry -> {
            keys.add(entry.key());
            if (keys.size() % 7 == 0) {
              throw new IllegalStateException("enough");
            }
            assertThrows(IllegalStateException.class, () -> reader.get(key(1), new DirectValue()));
            assertThrows(IllegalStateException.class, reader::close);
            return true;
          };
      while (!scan.isDone()) {
        try {
          assertFalse(reader.scan(scan, failing));
        } catch (IllegalStateException e) {
          assertEquals("enough", e.getMessage());
        }
      }
      assertEquals(List.copyOf(model.keySet()), keys);
    }
  }

  /** Notes the last grant, and keeps back each later one until a scan has asked for a page. */
  private static final class Tokens implements ClientInterceptor {
    private final CountDownLatch called = new CountDownLatch(1);
    private volatile GrantResponse last;

    @Override
    public <Q, R> ClientCall<Q, R> interceptCall(
        MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
      return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
        @Override
        public void start(Listener<R> listener, Metadata headers) {
          if (method.equals(IndexGrpc.getScanPageMethod())) {
            called.countDown();
          }
          super.start(
              new SimpleForwardingClientCallListener<>(listener) {
                @Override
                public void onMessage(R message) {
                  if (message instanceof GrantResponse grant && !grant.getToken().isEmpty()) {
                    if (last != null) {
                      final boolean unused = awaitUninterruptibly(called, 10, TimeUnit.SECONDS);
                    }
                    last = grant;
                  }
                  super.onMessage(message);
                }
              },
              headers);
        }
      };
    }
  }
}
