package dev.ringfetch.index.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What ordered views promise, of any server. */
abstract class OrderedIndexContract {
  private static final long SEED = Long.getLong("ringfetch.seed", 1);

  @TempDir Path directory;
  private TestServer server;
  IndexClient client;
  OrderedIndex<Long, String> index;

  abstract TestServer start(Path directory) throws IOException;

  /** Whether the server has snapshots. */
  abstract boolean servesSnapshots();

  /** The scan as it is and, if the server has them, as a snapshot. */
  private <T> List<Scan<T>> bothWays(Scan<T> scan) {
    return servesSnapshots() ? List.of(scan, scan.snapshot()) : List.of(scan);
  }

  @BeforeEach
  void connect() throws IOException {
    server = start(directory);
    client = connect(server);
    index = view(client.ordered("numbers", Codec.int64(), Codec.string()));
  }

  IndexClient connect(TestServer to) {
    return to.connect();
  }

  /** The view that is tested. */
  OrderedIndex<Long, String> view(OrderedIndex<Long, String> plain) {
    return plain;
  }

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  private static String text(long number) {
    return "v" + number;
  }

  /** Writes entries for the numbers from -half to half - 1. */
  final void fill(int half) {
    final NavigableMap<Long, String> entries = new TreeMap<>();
    for (long i = -half; i < half; i++) {
      entries.put(i, text(i));
    }
    index.putAll(entries);
  }

  private static List<Long> keys(List<IndexEntry<Long, String>> entries) {
    return entries.stream().map(IndexEntry::key).toList();
  }

  private static List<Long> numbers(long from, long to) {
    return Stream.iterate(from, i -> i < to, i -> i + 1).toList();
  }

  @Test
  void scansComeInTheOrderOfTheKeys() {
    fill(20);
    assertEquals(numbers(-20, 20), keys(index.scan().toList()));
    assertEquals(40, index.count());
    for (final IndexEntry<Long, String> entry : index.scan()) {
      assertEquals(text(entry.key()), entry.value());
      assertTrue(entry.version() != 0);
    }
  }

  @Test
  void rangesHaveTheBoundsThatTheySay() {
    fill(20);
    assertEquals(numbers(-3, 5), keys(index.scan(Range.closedOpen(-3L, 5L)).toList()));
    assertEquals(numbers(-3, 6), keys(index.scan(Range.closed(-3L, 5L)).toList()));
    assertEquals(numbers(-2, 5), keys(index.scan(Range.open(-3L, 5L)).toList()));
    assertEquals(numbers(-2, 6), keys(index.scan(Range.openClosed(-3L, 5L)).toList()));
    assertEquals(List.of(), index.scan(Range.open(5L, 5L)).toList());
    assertEquals(List.of(), index.scan(Range.openClosed(5L, 5L)).toList());
    assertEquals(numbers(17, 20), keys(index.scan(Range.atLeast(17L)).toList()));
    assertEquals(numbers(18, 20), keys(index.scan(Range.greaterThan(17L)).toList()));
    assertEquals(numbers(-20, -17), keys(index.scan(Range.lessThan(-17L)).toList()));
    assertEquals(numbers(-20, -16), keys(index.scan(Range.atMost(-17L)).toList()));
    assertEquals(List.of(), index.scan(Range.closedOpen(5L, 5L)).toList());
    assertEquals(8, index.count(Range.closedOpen(-3L, 5L)));
  }

  /** The next key after one of the greatest length is no key, and yet a bound. */
  @Test
  void rangesMayEndAndBeginBehindTheLongestKeys() {
    final OrderedIndex<String, Long> longest =
        client.ordered("longest", Codec.string(), Codec.int64()).access(index.access());
    final String a = "a".repeat(1_024);
    final String b = "b".repeat(1_024);
    longest.putAll(Map.of(a, 1L, b, 2L, "c", 3L));
    assertEquals(List.of(b, "c"), longest.keys(Range.greaterThan(a)).toList());
    assertEquals(List.of("c", b), longest.keys(Range.greaterThan(a)).reverse().toList());
    assertEquals(List.of(a, b), longest.keys(Range.atMost(b)).toList());
    assertEquals(List.of(b, a), longest.keys(Range.atMost(b)).reverse().toList());
    assertEquals(List.of(b), longest.keys(Range.closed("b", b)).pageSize(1).toList());
    for (final Scan<String> scan : bothWays(longest.keys(Range.greaterThan(a)))) {
      assertEquals(List.of(b, "c"), scan.toList());
    }
    assertEquals(2, longest.count(Range.atMost(b)));
    assertEquals(1, longest.deleteRange(Range.closed(a, a)));
    final List<String> paged = new ArrayList<>();
    Optional<IndexEntry<String, Long>> next = longest.first();
    while (next.isPresent()) { // paging by the last key
      paged.add(next.get().key());
      next = longest.first(Range.greaterThan(next.get().key()));
    }
    assertEquals(List.of(b, "c"), paged);
  }

  @Test
  void scansMayBeReversedAndLimited() {
    fill(20);
    final List<Long> reversed = new ArrayList<>(numbers(-20, 20));
    Collections.reverse(reversed);
    assertEquals(reversed, keys(index.scan().reverse().toList()));
    assertEquals(reversed.subList(0, 13), keys(index.scan().reverse().limit(13).toList()));
    assertEquals(numbers(-20, -7), keys(index.scan().limit(13).toList()));
    assertEquals(numbers(-20, -7), index.keys(Range.all()).limit(13).pageSize(2).toList());
    assertThrows(IllegalArgumentException.class, () -> index.scan().limit(0));
    assertThrows(IllegalArgumentException.class, () -> index.scan().pageSize(0));
  }

  @Test
  void firstAndLastAreThoseOfARange() {
    assertEquals(Optional.empty(), index.first());
    assertEquals(Optional.empty(), index.last());
    fill(20);
    assertEquals(-20, index.first().orElseThrow().key());
    assertEquals(19, index.last().orElseThrow().key());
    assertEquals(4, index.first(Range.greaterThan(3L)).orElseThrow().key());
    assertEquals(2, index.last(Range.lessThan(3L)).orElseThrow().key());
    assertEquals(Optional.empty(), index.first(Range.atLeast(20L)));
  }

  @Test
  void prefixesAreThoseOfStringsAndComponents() {
    final OrderedIndex<String, Long> names =
        client.ordered("numbers", Codec.string(), Codec.int64());
    for (final String name : List.of("a", "ab", "abc", "abd", "ac", "b")) {
      names.put(name, 1L);
    }
    final List<String> found = names.prefix("ab").stream().map(IndexEntry::key).toList();
    assertEquals(List.of("ab", "abc", "abd"), found);
    names.deleteRange(Range.all());

    final PairCodec<String, Long> codec = Codec.pair(Codec.string(), Codec.int64());
    final OrderedIndex<Pair<String, Long>, String> pairs =
        client.ordered("numbers", codec, Codec.string());
    for (final String name : List.of("a", "a\0", "ab")) {
      pairs.put(new Pair<>(name, 1L), name);
      pairs.put(new Pair<>(name, -1L), name);
    }
    assertEquals(
        List.of(new Pair<>("a", -1L), new Pair<>("a", 1L)),
        pairs.keys(codec.startingWith("a")).toList());
  }

  @Test
  void snapshotsComeAsOne() {
    assumeTrue(servesSnapshots());
    fill(40);
    try (ScanIterator<Long> iterator = index.keys(Range.all()).snapshot().iterator()) {
      assertEquals(-40, iterator.next());
      index.put(1_000L, "late");
      index.remove(39L);
      final List<Long> rest = new ArrayList<>();
      iterator.forEachRemaining(rest::add);
      assertEquals(numbers(-39, 40), rest);
    }
    assertEquals(
        List.of(1_000L, 38L, 37L), index.keys(Range.all()).reverse().limit(3).snapshot().toList());
  }

  @Test
  void whatIsClosedHasNoMore() {
    fill(40);
    for (final Scan<Long> scan : bothWays(index.keys(Range.all()))) {
      final ScanIterator<Long> iterator = scan.iterator();
      iterator.next();
      iterator.close();
      iterator.close();
      assertFalse(iterator.hasNext());
      assertThrows(NoSuchElementException.class, iterator::next);
      try (Stream<Long> stream = scan.stream()) {
        assertEquals(-40, stream.findFirst().orElseThrow());
      }
    }
  }

  @Test
  void rangesAreDeletedToTheEnd() {
    fill(20);
    assertEquals(30, index.deleteRange(Range.closedOpen(-15L, 15L)));
    assertEquals(0, index.deleteRange(Range.closedOpen(-15L, 15L)));
    assertEquals(10, index.count());
  }

  @Test
  void asynchronousScansAreTheSame() {
    fill(40);
    final AsyncOrderedIndex<Long, String> async = index.async();
    assertEquals(numbers(-40, 40), keys(async.toList(index.scan()).join()));
    for (final Scan<Long> scan : bothWays(index.keys(Range.all()))) {
      assertEquals(numbers(-40, 40), async.toList(scan).join());
    }
    final List<Long> seen = new ArrayList<>();
    assertEquals(11, async.forEach(index.keys(Range.all()).limit(11), seen::add).join());
    assertEquals(numbers(-40, -29), seen);
    assertEquals(-40, async.first(Range.all()).join().orElseThrow().key());
    assertEquals(39, async.last(Range.all()).join().orElseThrow().key());
    assertEquals(10, async.count(Range.atLeast(30L)).join());
    assertEquals(80, async.deleteRange(Range.all()).join());
    assertEquals(0, async.count().join());
  }

  /** Random operations, beside a map. */
  @Test
  void itIsAsAMapIs() {
    System.out.println("ringfetch.seed=" + SEED);
    final Random random = new Random(SEED);
    final NavigableMap<Long, String> model = new TreeMap<>();
    for (int i = 0; i < 400; i++) {
      final long key = random.nextLong(-20, 20);
      switch (random.nextInt(6)) {
        case 0, 1, 2 -> {
          index.put(key, text(i));
          model.put(key, text(i));
        }
        case 3 -> assertEquals(model.remove(key) != null, index.remove(key));
        case 4 -> {
          final Iterator<Long> tail = model.tailMap(key, true).keySet().iterator();
          assertEquals(
              tail.hasNext() ? Optional.of(tail.next()) : Optional.empty(),
              index.first(Range.atLeast(key)).map(IndexEntry::key));
        }
        default -> {
          final long to = key + random.nextLong(20);
          assertEquals(
              List.copyOf(model.subMap(key, to).values()),
              index.scan(Range.closedOpen(key, to)).stream().map(IndexEntry::value).toList());
        }
      }
    }
    assertEquals(List.copyOf(model.keySet()), index.keys(Range.all()).toList());
  }
}
