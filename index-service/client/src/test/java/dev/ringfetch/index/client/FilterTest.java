package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Filters give the same entries by calls, in memory, and where memory is not granted. */
@Timeout(120)
class FilterTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 41);
  private static final int ENTRIES = 3_000;

  @TempDir Path directory;
  private final Random random = new Random(SEED);
  private final Map<String, Quote> quotes = new TreeMap<>();
  private TestServer server;
  private IndexClient client;
  private ManagedChannel plain;
  private IndexClient stranger; // whom the server grants nothing
  private final AtomicInteger calls = new AtomicInteger(); // of the stranger

  /** A value: two numbers, little-endian. */
  private record Quote(long size, double price) {
    static final Codec<Quote> CODEC =
        new Codec<>() {
          @Override
          public ByteString encode(Quote quote) {
            return ByteString.copyFrom(
                ByteBuffer.allocate(16)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(quote.size)
                    .putDouble(quote.price)
                    .flip());
          }

          @Override
          public Quote decode(ByteString bytes) {
            final ByteBuffer buffer = bytes.asReadOnlyByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
            return new Quote(buffer.getLong(), buffer.getDouble());
          }
        };
  }

  @BeforeEach
  void start() throws IOException {
    server = TestServer.start(directory);
    client = server.connect();
    plain =
        Grpc.newChannelBuilder(server.target(), InsecureChannelCredentials.create())
            .intercept(counter())
            .build();
    stranger = server.builder(plain).build();
    for (int i = 0; i < ENTRIES; i++) {
      quotes.put(
          (i % 3 == 0 ? "de:" : "fr:") + random.nextInt(1_000_000),
          new Quote(random.nextInt(1000) - 500, random.nextInt(100)));
    }
  }

  private ClientInterceptor counter() {
    return new ClientInterceptor() {
      @Override
      public <Q, A> ClientCall<Q, A> interceptCall(
          MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
        calls.incrementAndGet();
        return next.newCall(method, options);
      }
    };
  }

  @AfterEach
  void stop() {
    client.close();
    stranger.close();
    plain.shutdownNow();
    server.close();
  }

  private static Filter filter(Field<ByteString> value) {
    return value
        .int64(0)
        .atLeast(400L)
        .or(value.float64(8).lessThan(10.0).negate().and(value.int64(0).is(7L)))
        .and(Field.key().bytes(0, 3).is(ByteString.copyFromUtf8("de:")));
  }

  /** What the filter says, in Java. */
  private static boolean isExpected(Map.Entry<String, Quote> entry) {
    return entry.getKey().startsWith("de:")
        && (entry.getValue().size >= 400
            || (entry.getValue().price >= 10 && entry.getValue().size == 7));
  }

  private List<String> expected() {
    final List<String> keys =
        quotes.entrySet().stream().filter(FilterTest::isExpected).map(Map.Entry::getKey).toList();
    assertTrue(keys.size() > 20 && keys.size() < ENTRIES / 4, "keys=" + keys.size());
    return keys;
  }

  /** The index by calls, in memory, by whichever is faster, and without a grant. */
  private Stream<OrderedIndex<String, Quote>> views() {
    final OrderedIndex<String, Quote> index =
        client.ordered("ordered", Codec.string(), Quote.CODEC);
    index.putAll(quotes);
    return Stream.of(
        index,
        index.access(Access.DIRECT),
        index.access(Access.ADAPTIVE),
        stranger.ordered("ordered", Codec.string(), Quote.CODEC).access(Access.DIRECT));
  }

  @Test
  void scansOfAllRoutesGiveTheSame() {
    final List<String> expected = expected();
    views()
        .forEach(
            index -> {
              final Scan<IndexEntry<String, Quote>> scan =
                  index.scan().where(filter(Field.value()));
              assertEquals(expected, scan.stream().map(IndexEntry::key).toList());
              scan.forEach(entry -> assertEquals(quotes.get(entry.key()), entry.value()));
              final Scan<String> keys = index.keys(Range.all()).where(filter(Field.value()));
              assertEquals(expected, keys.pageSize(5).toList());
              assertEquals(expected.subList(0, 8), keys.limit(8).toList());
              assertEquals(
                  expected.get(expected.size() - 1), keys.reverse().limit(1).toList().get(0));
              assertEquals(expected, keys.snapshot().toList());
              final Range<String> some = Range.closedOpen(expected.get(3), expected.get(9));
              assertEquals(
                  expected.subList(3, 9), index.keys(some).where(filter(Field.value())).toList());
            });
  }

  /** Where memory is not granted, the server looks for the few entries that are wanted. */
  @Test
  void rareEntriesTakeFewCalls() {
    final OrderedIndex<String, Quote> index = views().skip(3).findFirst().orElseThrow();
    final String last = ((TreeMap<String, Quote>) quotes).lastKey();
    final Scan<String> keys =
        index.keys(Range.all()).where(Field.key().is(ByteString.copyFromUtf8(last)));
    calls.set(0);
    assertEquals(List.of(last), keys.limit(1).toList());
    assertEquals(List.of(last), keys.toList());
    assertTrue(calls.get() < 10, "calls=" + calls);
  }

  @Test
  void hashScansFilter() {
    final HashIndex<String, Quote> index = client.hash("hash", Codec.string(), Quote.CODEC);
    index.putAll(quotes);
    assertEquals(
        new TreeSet<>(expected()),
        new TreeSet<>(index.keys().where(filter(Field.value())).toList()));
  }

  @Test
  void searchesOfAllRoutesGiveTheSame() {
    final Box all = new Box(0, 0, ENTRIES, 0);
    final SpatialIndex<String, Quote> index =
        client.spatial("spatial", Codec.string(), Quote.CODEC);
    int x = 0;
    for (final Map.Entry<String, Quote> entry : quotes.entrySet()) {
      index.put(entry.getKey(), Box.of(x++, 0), entry.getValue());
    }
    final List<String> expected = expected();
    Stream.of(
            index,
            index.access(Access.DIRECT),
            stranger.spatial("spatial", Codec.string(), Quote.CODEC).access(Access.DIRECT))
        .forEach(
            view -> {
              final BoxSearch<String, Quote> search =
                  view.intersecting(all).where(filter(Field.located()));
              assertEquals(
                  new TreeSet<>(expected),
                  new TreeSet<>(search.stream().map(IndexEntry::key).toList()));
              assertEquals(6, search.limit(6).toList().size());
              assertEquals(expected.size(), search.count());
              assertEquals(
                  expected.stream().mapToLong(key -> quotes.get(key).size).sum(),
                  search.summarizeLongs(Field.located().int64(0)).getSum());
            });
    assertThrows(IllegalStateException.class, () -> index.within(all).count());
  }

  @Test
  void countsAndSums() {
    final OrderedIndex<String, Quote> index = views().findFirst().orElseThrow();
    final Scan<String> scan = index.keys(Range.all()).where(filter(Field.value()));
    final LongSummaryStatistics longs = scan.summarizeLongs(Field.value().int64(0));
    final DoubleSummaryStatistics doubles = scan.summarizeDoubles(Field.value().float64(8));
    final List<Quote> expected = expected().stream().map(quotes::get).toList();
    assertEquals(expected.size(), scan.count());
    assertEquals(
        expected.stream().mapToLong(Quote::size).summaryStatistics().toString(), longs.toString());
    assertEquals(
        expected.stream().mapToDouble(Quote::price).summaryStatistics().toString(),
        doubles.toString());
    final Scan<String> none = scan.where(Field.version().is(0L));
    assertEquals(0, none.count());
    assertEquals(
        new LongSummaryStatistics().toString(), none.summarizeLongs(Field.version()).toString());
    assertEquals(quotes.size(), index.keys(Range.all()).count());
  }

  /** Removals come, too: what was removed is not known. */
  @Test
  void watchesFilterWhatIsWritten() throws Exception {
    final OrderedIndex<String, Quote> index =
        client.ordered("watched", Codec.string(), Quote.CODEC);
    index.put("first", new Quote(0, 0));
    final Filter great = Field.value().int64(0).atLeast(100L);
    try (Watch<String, Quote> watch = index.watch(WatchOptions.fromNow().where(great))) {
      index.put("small", new Quote(99, 0));
      index.put("great", new Quote(100, 0));
      index.remove("small");
      final IndexChange<String, Quote> written = watch.next(Duration.ofSeconds(30)).orElseThrow();
      assertEquals("great", written.key());
      assertEquals(IndexChange.Kind.PUT, written.kind());
      final IndexChange<String, Quote> removed = watch.next(Duration.ofSeconds(30)).orElseThrow();
      assertEquals("small", removed.key());
      assertEquals(IndexChange.Kind.DELETE, removed.kind());
    }
  }

  @Test
  void allThatLeavesAWatchedBoxIsTold() throws Exception {
    final SpatialIndex<String, Quote> index =
        client.spatial("watched-box", Codec.string(), Quote.CODEC);
    index.put("a", Box.of(9, 9), new Quote(1, 0));
    final Filter great = Field.located().int64(0).atLeast(100L);
    final Box box = new Box(0, 0, 1, 1);
    try (var watch = index.watch(box, WatchOptions.fromNow().where(great))) {
      index.put("a", Box.of(1, 1), new Quote(100, 0));
      index.put("a", Box.of(0, 0), new Quote(99, 0));
      index.put("a", Box.of(9, 9), new Quote(99, 0));
      for (final var crossing : List.of(IndexChange.Crossing.ENTER, IndexChange.Crossing.LEAVE)) {
        final var change = watch.next(Duration.ofSeconds(30)).orElseThrow();
        assertEquals(crossing, change.crossing().orElseThrow());
      }
    }
  }

  @Test
  void whatIsNoFieldIsRefused() {
    assertThrows(IllegalArgumentException.class, () -> Field.value().int64(-1));
    assertThrows(IllegalArgumentException.class, () -> Field.value().bytes(0, 0));
    assertThrows(IllegalArgumentException.class, () -> Field.value().unsigned(0, 9).is(1L));
    assertThrows(IllegalArgumentException.class, () -> Field.value().float64(0).is(Double.NaN));
    Filter most = Field.version().is(1L);
    for (int i = 0; i < 30; i++) { // with the join, 32 nodes
      most = most.or(Field.version().is(2L));
    }
    final Filter full = most;
    assertThrows(IllegalArgumentException.class, () -> full.or(full));
    assertThrows(IllegalArgumentException.class, full::negate);
  }
}
