package dev.ringfetch.index.direct;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.index.layout.EntrySink;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.NodeDescriptor;
import dev.ringfetch.index.layout.OrderedReader;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.ScanCursor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Reads of an ordered index by READs: how many ways over the network they take. */
@Timeout(60)
final class OrderedCardTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 27);

  /** Gate and open word, which each batch begins with. */
  private static final int GATED = 2;

  private final CardDomain domain = new CardDomain();
  private final Found found = new Found();
  private HandmadeTree tree;

  private OrderedReader open(boolean longKeys, int cachedNodes) throws IOException {
    tree = new HandmadeTree(domain, longKeys);
    return open(domain, cachedNodes);
  }

  private static OrderedReader open(CardDomain domain, int cachedNodes) throws IOException {
    final PostedReads reads =
        new PostedReads(domain, number -> number == 0 ? 0 : -1, 16, TimeUnit.SECONDS.toNanos(10));
    return new OrderedReader(reads, HandmadeTree.location(), cachedNodes);
  }

  /** Doorbells since the last call. */
  private int doorbells() {
    final int count = domain.doorbells;
    domain.doorbells = 0;
    return count;
  }

  private void assertFound(OrderedReader reader, int number) {
    assertEquals(ReadResult.FOUND, reader.get(tree.key(number), found));
    assertEquals(HandmadeTree.value(number), found.value());
    assertEquals(number + 1, found.version());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void keyTakesTwoRoundTripsOnceTheInnerNodesAreKnown(boolean longKeys) throws IOException {
    final OrderedReader reader = open(longKeys, 16);
    assertFound(reader, 0);
    assertEquals(5, doorbells(), "serving word, tree word, inner node, leaf, block");
    for (int i = 0; i < HandmadeTree.KEYS; i++) {
      assertFound(reader, i);
      assertEquals(2, doorbells(), "number=" + i);
    }
    final ByteString before = ByteString.copyFromUtf8("leaf1+");
    assertEquals(ReadResult.ABSENT, reader.get(before, found));
    assertEquals(1, doorbells());
    assertEquals(ReadResult.ABSENT, reader.get(tree.key(50).concat(before), found));
    assertEquals(longKeys ? 2 : 1, doorbells());
  }

  @Test
  void withoutMemoryOfNodesEachLevelIsARoundTrip() throws IOException {
    final OrderedReader reader = open(false, 0);
    assertFound(reader, 0);
    doorbells();
    assertFound(reader, 1);
    assertEquals(4, doorbells());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void severalKeysTakeNoMoreThanOne(boolean longKeys) throws IOException {
    final OrderedReader reader = open(longKeys, 16);
    assertFound(reader, 0);
    doorbells();
    final List<ByteString> keys = new ArrayList<>();
    final Found[] founds = new Found[60];
    for (int i = 0; i < founds.length; i++) {
      keys.add(i % 6 == 5 ? ByteString.copyFromUtf8("leaf2" + i + "?") : tree.key(2 * i));
      founds[i] = new Found();
    }
    final ReadResult[] results = new ReadResult[founds.length];
    reader.batchGet(keys, founds, results);
    assertEquals(2, doorbells());
    for (int i = 0; i < founds.length; i++) {
      assertEquals(i % 6 == 5 ? ReadResult.ABSENT : ReadResult.FOUND, results[i], "i=" + i);
      if (i % 6 != 5) {
        assertEquals(HandmadeTree.value(2 * i), founds[i].value());
      }
    }
  }

  /** One more READ than for an entry without a deadline, of the clock. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void deadlineTakesARoundTrip(boolean longKeys) throws IOException {
    open(longKeys, 16);
    tree = new HandmadeTree(domain, longKeys, number -> number % 3 == 0 ? 0 : 1000 + number);
    final OrderedReader reader = open(domain, 16);
    tree.clock(1000);
    assertFound(reader, 0);
    doorbells();
    domain.reads = 0;
    assertFound(reader, 1);
    assertEquals(1001, found.deadline());
    assertEquals(3, doorbells(), "leaf, block, clock");
    assertFound(reader, 3);
    assertEquals(0, found.deadline());
    assertEquals(2, doorbells());
    final List<ByteString> keys = new ArrayList<>();
    final Found[] founds = new Found[60];
    for (int i = 0; i < founds.length; i++) {
      keys.add(tree.key(2 * i));
      founds[i] = new Found();
    }
    final ReadResult[] results = new ReadResult[founds.length];
    reader.batchGet(keys, founds, results);
    assertEquals(3, doorbells(), "leaves, blocks, clock");
    for (int i = 0; i < founds.length; i++) {
      assertEquals(ReadResult.FOUND, results[i]);
      assertEquals(2 * i % 3 == 0 ? 0 : 1000 + 2 * i, founds[i].deadline());
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whatHasEndedIsAbsent(boolean longKeys) throws IOException {
    open(longKeys, 16);
    tree = new HandmadeTree(domain, longKeys, number -> number % 3 == 0 ? 0 : 1000 + number);
    final OrderedReader reader = open(domain, 16);
    tree.clock(1050);
    final List<ByteString> keys = new ArrayList<>();
    final Found[] founds = new Found[60];
    for (int i = 0; i < founds.length; i++) {
      keys.add(tree.key(2 * i));
      founds[i] = new Found();
    }
    final ReadResult[] results = new ReadResult[founds.length];
    reader.batchGet(keys, founds, results);
    final List<ByteString> left = new ArrayList<>();
    for (int i = 0; i < HandmadeTree.KEYS; i++) {
      final boolean isThere = i % 3 == 0 || i > 50;
      if (isThere) {
        left.add(tree.key(i));
      }
      if (i % 2 == 0) {
        assertEquals(isThere ? ReadResult.FOUND : ReadResult.ABSENT, results[i / 2], "i=" + i);
      }
    }
    final List<ByteString> scanned = new ArrayList<>();
    assertEquals(ReadResult.ABSENT, reader.scan(cursor(false), into(scanned)));
    assertEquals(left, scanned);
  }

  /** Of another index, whose root has the memory by now: nothing is known by that. */
  @Test
  void clockOfAnotherIndexDecidesNothing() throws IOException {
    open(false, 16);
    tree = new HandmadeTree(domain, false, number -> 1000);
    final OrderedReader reader = open(domain, 16);
    assertEquals(ReadResult.UNDECIDED, reader.get(tree.key(1), found)); // 0, as if it were new
    final Found[] founds = {new Found(), new Found()};
    final ReadResult[] results = new ReadResult[2];
    reader.batchGet(List.of(tree.key(1), tree.key(2)), founds, results);
    assertEquals(List.of(ReadResult.UNDECIDED, ReadResult.UNDECIDED), List.of(results));
    final List<ByteString> scanned = new ArrayList<>();
    assertEquals(ReadResult.UNDECIDED, reader.scan(cursor(false), into(scanned)));
    assertEquals(List.of(), scanned);
  }

  /** What is remembered is old: keys that moved to the right are found there all the same. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void oldInnerNodeCostsAStepToTheRight(boolean together) throws IOException {
    final OrderedReader reader = open(false, 16);
    assertFound(reader, 0);
    tree.split(1);
    doorbells();
    if (together) {
      final List<ByteString> keys = new ArrayList<>();
      final Found[] founds = new Found[HandmadeTree.KEYS / 2];
      for (int i = 0; i < founds.length; i++) {
        keys.add(tree.key(2 * i));
        founds[i] = new Found();
      }
      final ReadResult[] results = new ReadResult[founds.length];
      reader.batchGet(keys, founds, results);
      for (int i = 0; i < founds.length; i++) {
        assertEquals(ReadResult.FOUND, results[i], "i=" + i);
        assertEquals(HandmadeTree.value(2 * i), founds[i].value());
      }
    } else {
      assertFound(reader, 70);
      assertEquals(3, doorbells(), "leaf, leaf to its right, block");
    }
    for (boolean reverse : new boolean[] {false, true}) {
      final List<ByteString> keys = new ArrayList<>();
      assertEquals(ReadResult.ABSENT, reader.scan(cursor(reverse), into(keys)));
      assertEquals(keys(reverse), keys);
    }
  }

  private static ScanCursor cursor(boolean reverse) {
    return reverse
        ? ScanCursor.reverse(ByteString.EMPTY, ByteString.EMPTY)
        : ScanCursor.forward(ByteString.EMPTY, ByteString.EMPTY);
  }

  private List<ByteString> keys(boolean reverse) {
    final List<ByteString> keys = new ArrayList<>();
    for (int i = 0; i < HandmadeTree.KEYS; i++) {
      keys.add(tree.key(reverse ? HandmadeTree.KEYS - 1 - i : i));
    }
    return keys;
  }

  private static EntrySink into(List<ByteString> keys) {
    return (array, keyOffset, keyLength, valueLength, version, deadline) ->
        keys.add(ByteString.copyFrom(array, keyOffset, keyLength));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void blocksOfALeafComeTogether(boolean reverse) throws IOException {
    for (boolean longKeys : new boolean[] {false, true}) {
      final OrderedReader reader = open(longKeys, 16);
      assertFound(reader, 0);
      doorbells();
      final List<ByteString> keys = new ArrayList<>();
      assertEquals(ReadResult.ABSENT, reader.scan(cursor(reverse), into(keys)));
      assertEquals(keys(reverse), keys);
      assertEquals(2 * HandmadeTree.LEAVES, doorbells());
    }
  }

  /** No more blocks are read than the sink has room for. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void firstEntryIsOneBlock(boolean reverse) throws IOException {
    final OrderedReader reader = open(false, 16);
    assertFound(reader, 0);
    doorbells();
    domain.reads = 0;
    final List<ByteString> keys = new ArrayList<>();
    final EntrySink one =
        new EntrySink() {
          @Override
          public boolean take(
              byte[] array, int offset, int length, int valueLength, long version, long deadline) {
            keys.add(ByteString.copyFrom(array, offset, length));
            return false;
          }

          @Override
          public int room() {
            return 1;
          }
        };
    assertEquals(ReadResult.FOUND, reader.scan(cursor(reverse), one));
    assertEquals(keys(reverse).subList(0, 1), keys);
    assertEquals(2, doorbells());
    assertEquals(2 * GATED + 2, domain.reads);
  }

  /** What was given before counts, and the cursor goes on behind it over another connection. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void scanGoesOnWhereAConnectionBroke(boolean reverse) throws IOException {
    int broken = 0;
    for (int left = 0; left < 160; left += 3) {
      final OrderedReader reader = open(false, 16);
      domain.left = left;
      domain.closed = false;
      final List<ByteString> keys = new ArrayList<>();
      final ScanCursor cursor = cursor(reverse);
      final ReadResult result = reader.scan(cursor, into(keys));
      if (result != ReadResult.ABSENT) {
        assertTrue(result == ReadResult.LOST || result == ReadResult.CLOSED, "result=" + result);
        broken++;
      }
      domain.left = Integer.MAX_VALUE;
      assertEquals(ReadResult.ABSENT, open(domain, 16).scan(cursor, into(keys)));
      assertEquals(keys(reverse), keys, "left=" + left);
    }
    assertTrue(broken > 20, "broken=" + broken);
  }

  /** Words of nodes and blocks, and a reader that remembers what was there before. */
  @Test
  void memoryThatIsWrittenToShowsNothingElse() throws IOException {
    System.out.println("ringfetch.seed=" + SEED);
    final Random random = new Random(SEED);
    final int worlds = Integer.getInteger("ringfetch.hunt", 0) == 0 ? 30 : 100;
    int undecided = 0;
    for (int world = 0; world < worlds; world++) {
      final OrderedReader reader = open(random.nextBoolean(), random.nextBoolean() ? 16 : 0);
      for (int step = 0; step < 20; step++) {
        scribble(random);
        undecided += read(reader, random) ? 0 : 1;
      }
    }
    assertTrue(undecided > worlds, "undecided=" + undecided);
  }

  private void scribble(Random random) {
    final int at =
        random.nextInt(3) == 0
            ? (32 << 10) + (random.nextInt(6 << 10) & -Long.BYTES)
            : (4096 + random.nextInt(8192 + 4 * NodeDescriptor.LENGTH - 4096)) & -Long.BYTES;
    final long word = domain.segment.getLong(at);
    domain.segment.putLong(
        at,
        switch (random.nextInt(4)) {
          case 0 -> random.nextLong();
          case 1 -> 0;
          case 2 -> domain.segment.getLong(random.nextInt(1 << 16) & -Long.BYTES);
          default -> word ^ (1L << random.nextInt(64));
        });
  }

  /** Reads; false if anything was not decided. */
  private boolean read(OrderedReader reader, Random random) {
    final List<ByteString> keys = new ArrayList<>();
    final Found[] founds = new Found[40];
    final int first = random.nextInt(HandmadeTree.KEYS);
    for (int i = 0; i < founds.length; i++) {
      keys.add(tree.key((first + i * 7) % HandmadeTree.KEYS));
      founds[i] = new Found();
    }
    final ReadResult[] results = new ReadResult[founds.length];
    reader.batchGet(keys, founds, results);
    boolean decided = true;
    for (int i = 0; i < founds.length; i++) {
      if (results[i] == ReadResult.FOUND) {
        assertEquals(HandmadeTree.value((first + i * 7) % HandmadeTree.KEYS), founds[i].value());
      } else {
        assertTrue(results[i] != ReadResult.ABSENT, "seed=" + SEED);
        decided = false;
      }
    }
    final boolean reverse = random.nextBoolean();
    final List<ByteString> scanned = new ArrayList<>();
    final ReadResult result = reader.scan(cursor(reverse), into(scanned));
    assertEquals(keys(reverse).subList(0, scanned.size()), scanned, "seed=" + SEED);
    assertEquals(result == ReadResult.ABSENT, scanned.size() == HandmadeTree.KEYS);
    return decided && result == ReadResult.ABSENT;
  }
}
