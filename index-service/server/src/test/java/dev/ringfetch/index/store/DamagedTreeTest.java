package dev.ringfetch.index.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ringfetch.fabric.DirectRegion;
import dev.ringfetch.fabric.MappedRegion;
import dev.ringfetch.fabric.MemoryRegion;
import dev.ringfetch.index.layout.Found;
import dev.ringfetch.index.layout.NodeDescriptor;
import dev.ringfetch.index.layout.OrderedReader;
import dev.ringfetch.index.layout.ReadResult;
import dev.ringfetch.index.layout.ScanCursor;
import dev.ringfetch.index.layout.StoreDescriptor;
import dev.ringfetch.index.layout.TreeDescriptor;
import dev.ringfetch.index.partition.Handover;
import dev.ringfetch.index.partition.ImmediateLog;
import dev.ringfetch.index.partition.Partition;
import dev.ringfetch.index.partition.Write;
import dev.ringfetch.index.v1.Entry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process of the same user changes the memory of an ordered index, or takes it away, beside its
 * owner: each answer is right, or says that the index is damaged.
 */
@Timeout(value = 120, threadMode = ThreadMode.SEPARATE_THREAD)
class DamagedTreeTest {
  private static final long SEED = Long.getLong("ringfetch.seed", 26);
  private static final int SEGMENT_LENGTH = 64 << 10;
  private static final int SEGMENTS = 64;
  private static final int KEYS = 400;
  private static final int WORLDS = 30;

  private final Random random = new Random(SEED);
  private final List<MemoryRegion> regions = new ArrayList<>();
  private final List<Throwable> errors = new ArrayList<>();
  private final Found found = new Found();
  private MemoryRegion gate = Memories.openGate();
  private StoreMemory memory;
  private OrderedIndex index;
  private Partition partition;
  private NavigableMap<ByteString, Entry> expected;

  @TempDir Path directory;

  @BeforeEach
  void open() {
    System.out.println("ringfetch.seed=" + SEED);
    open(DirectRegion::new);
  }

  private void open(StoreMemory.SegmentSource source) {
    regions.clear();
    errors.clear();
    memory =
        Memories.serving(
            Memories.context(SEGMENT_LENGTH, (long) SEGMENTS * SEGMENT_LENGTH)
                .gate(gate, 0)
                .segmentSource(Memories.noting(regions, source)));
    create();
  }

  private void create() {
    index = new OrderedIndex(memory);
    partition =
        new Partition(index.partition(0), new ImmediateLog(0), 8, errors::add, Handover.never());
    expected = new TreeMap<>(ByteString.unsignedLexicographicalComparator());
    for (int i = 0; i < KEYS; i++) {
      put(key(i));
    }
  }

  private static ByteString key(int number) {
    return ByteString.copyFromUtf8(
        (number % 2 == 0 ? "key " : "the same head ") + String.format("%03d", number));
  }

  private Write submit(Write write) {
    assertEquals(0, partition.submit(write));
    if (write.outcome() == Write.DAMAGED) {
      assertTrue(index.isRefused());
    } else {
      assertEquals(Write.DONE, write.outcome());
    }
    return write;
  }

  private boolean isDamaged() {
    return index.isRefused();
  }

  private void put(ByteString key) {
    final ByteString value = Memories.bytes(random, random.nextInt(30));
    final Write write = submit(new Write(answered -> {}).put(key, value));
    if (write.outcome() == Write.DONE) {
      expected.put(
          key, Entry.newBuilder().setKey(key).setValue(value).setVersion(write.version()).build());
    }
  }

  /** Writes or reads a key; checks the answer. */
  private void act(ByteString key) {
    final Entry before = expected.get(key);
    switch (random.nextInt(3)) {
      case 0 -> put(key);
      case 1 -> {
        final Write read = submit(new Write(answered -> {}).read(key));
        if (!isDamaged()) {
          assertEquals(before, read.entry());
        }
      }
      default -> {
        final Write delete = submit(new Write(answered -> {}).delete(key));
        if (!isDamaged()) {
          assertEquals(before != null, delete.existed());
          expected.remove(key);
        }
      }
    }
  }

  /** What a reader finds is right, or it leaves the answer to the owner. */
  private void read(OrderedReader reader, ByteString key) {
    final ReadResult result = reader.get(key, found);
    final Entry entry = expected.get(key);
    if (result == ReadResult.FOUND) {
      assertTrue(entry != null && entry.getVersion() == found.version());
      assertEquals(entry.getValue(), found.value());
    } else if (result == ReadResult.ABSENT) {
      assertEquals(null, entry);
    }
  }

  private void batchRead(OrderedReader reader) {
    final List<ByteString> keys = new ArrayList<>();
    final Found[] founds = new Found[10];
    for (int i = 0; i < founds.length; i++) {
      keys.add(key(random.nextInt(KEYS)));
      founds[i] = new Found();
    }
    final ReadResult[] results = new ReadResult[founds.length];
    reader.batchGet(keys, founds, results);
    for (int i = 0; i < founds.length; i++) {
      final Entry entry = expected.get(keys.get(i));
      if (results[i] == ReadResult.FOUND) {
        assertTrue(entry != null && entry.getVersion() == founds[i].version());
        assertEquals(entry.getValue(), founds[i].value());
      } else if (results[i] == ReadResult.ABSENT) {
        assertEquals(null, entry);
      }
    }
  }

  private ReadResult scan(OrderedReader reader, boolean reverse) {
    final ScanCursor cursor =
        reverse
            ? ScanCursor.reverse(ByteString.EMPTY, ByteString.EMPTY)
            : ScanCursor.forward(ByteString.EMPTY, ByteString.EMPTY);
    final List<ByteString> keys = new ArrayList<>();
    final ReadResult result =
        reader.scan(
            cursor,
            (array, keyOffset, keyLength, valueLength, version, deadline) -> {
              final ByteString key = ByteString.copyFrom(array, keyOffset, keyLength);
              assertEquals(expected.get(key).getVersion(), version);
              keys.add(key);
              return true;
            });
    final List<ByteString> all =
        List.copyOf((reverse ? expected.descendingMap() : expected).keySet());
    assertEquals(all.subList(0, keys.size()), keys);
    if (result == ReadResult.ABSENT) {
      assertEquals(all.size(), keys.size());
    }
    return result;
  }

  private void scribble() {
    final MemoryRegion region = regions.get(random.nextInt(regions.size()));
    final int at = random.nextInt(SEGMENT_LENGTH) & ~7;
    final long word = region.getLong(at);
    region.putLong(
        at,
        switch (random.nextInt(5)) {
          case 0 -> 0;
          case 1 -> random.nextLong();
          case 2 -> region.getLong(random.nextInt(SEGMENT_LENGTH) & ~7);
          case 3 -> ((long) random.nextInt(SEGMENTS * SEGMENT_LENGTH)) & -NodeDescriptor.LENGTH;
          default -> word ^ (1L << random.nextInt(64));
        });
  }

  @Test
  void answersAreRightOrSayThatTheIndexIsDamaged() {
    int damaged = 0;
    int undecided = 0;
    for (int w = 0; w < WORLDS; w++) {
      open(DirectRegion::new);
      final OrderedReader remembering = new OrderedReader(memory.newReads(), index.location(), 8);
      for (int i = 0; i < 400 && !isDamaged(); i++) {
        scribble();
        act(key(random.nextInt(KEYS)));
        if (isDamaged()) {
          break;
        }
        read(index.newReader(), key(random.nextInt(KEYS)));
        read(remembering, key(random.nextInt(KEYS)));
        batchRead(remembering);
        if (i % 20 == 0) {
          undecided += scan(index.newReader(), i % 40 == 0) == ReadResult.UNDECIDED ? 1 : 0;
        }
      }
      damaged += isDamaged() ? 1 : 0;
      if (isDamaged()) {
        final int reported = errors.size();
        for (int i = 0; i < 20; i++) {
          assertEquals(Write.DAMAGED, submit(new Write(answered -> {}).delete(key(i))).outcome());
          assertEquals(ReadResult.CLOSED, index.newReader().get(key(i), found));
        }
        assertEquals(reported, errors.size(), "reported once");
        index.drop();
        create(); // in memory that the other one gave back
        assertFalse(isDamaged());
        final boolean serves =
            regions.get(0).getLong(StoreDescriptor.SERVING_OFFSET) == Memories.INCARNATION;
        assertEquals(serves ? ReadResult.ABSENT : ReadResult.CLOSED, scan(index.newReader(), true));
      }
    }
    System.out.println("damaged=" + damaged + " of " + WORLDS + ", undecided=" + undecided);
    assertTrue(damaged > WORLDS / 10, "damaged=" + damaged);
    assertTrue(undecided > 0, "undecided=" + undecided);
  }

  /** The word is no index's: readers of a later one find it closed, too, and ask the owner. */
  @Test
  void withoutTheServingWordTheOwnerAnswers() {
    regions.get(0).putLong(StoreDescriptor.SERVING_OFFSET, 0);
    for (int i = 0; i < 2; i++) {
      assertEquals(ReadResult.CLOSED, index.newReader().get(key(1), found));
      assertEquals(ReadResult.CLOSED, scan(index.newReader(), false));
      assertEquals(expected.get(key(1)), submit(new Write(answered -> {}).read(key(1))).entry());
      assertFalse(isDamaged());
      index.drop();
      create();
    }
  }

  /** Whatever part of the memory that leads a scan is spoiled: asked there, the owner finds it. */
  @Test
  void ownerFindsWhatAScanCannotPass() {
    int found = 0;
    for (int w = 0; w < 4 * WORLDS; w++) {
      open(DirectRegion::new);
      int stuck = 0;
      final boolean reverse = random.nextBoolean();
      final ScanCursor cursor =
          reverse
              ? ScanCursor.reverse(ByteString.EMPTY, ByteString.EMPTY)
              : ScanCursor.forward(ByteString.EMPTY, ByteString.EMPTY);
      for (int i = 0; i < 40; i++) {
        scribble();
      }
      if (index.newReader().scan(cursor, (a, o, k, v, n, d) -> true) == ReadResult.UNDECIDED) {
        stuck++;
        final ByteString place =
            cursor.place().isEmpty() && reverse ? key(KEYS - 1) : cursor.place();
        final Write read = submit(new Write(answered -> {}).read(place));
        assertEquals(Write.DAMAGED, read.outcome());
      }
      found += stuck;
    }
    assertTrue(found > WORLDS / 10, "found=" + found);
  }

  /** A state that a leaf once had, and so with a good checksum, is none that the owner trusts. */
  @Test
  void formerLeafIsDamage() {
    final OrderedReader reader = index.newReader();
    final List<byte[]> copies = new ArrayList<>();
    for (MemoryRegion region : regions) {
      final byte[] copy = new byte[SEGMENT_LENGTH];
      region.getBytes(0, copy, 0, copy.length);
      copies.add(copy);
    }
    put(key(0)); // its former block is free now
    for (int i = 0; i < copies.size(); i++) {
      regions.get(i).putBytes(0, copies.get(i), 0, SEGMENT_LENGTH);
    }
    assertEquals(ReadResult.FOUND, reader.get(key(0), found)); // nobody can tell but the owner
    // It has the image of the last leaf that it used: by way of others it comes to load this one.
    final List<ByteString> keys = new ArrayList<>(expected.keySet());
    keys.sort(ByteString.unsignedLexicographicalComparator());
    for (final ByteString key : List.of(keys.get(keys.size() - 1), keys.get(0), key(0))) {
      submit(new Write(answered -> {}).read(key));
    }
    assertTrue(isDamaged());
    assertEquals(1, errors.size());
    assertEquals(ReadResult.CLOSED, reader.get(key(0), found));
  }

  /** Links in a circle, and levels that nothing has: readers end. */
  @Test
  void forgedTreeWordLeadsNowhere() {
    final long root = index.location().root();
    final MemoryRegion region = regions.get((int) (root / SEGMENT_LENGTH));
    final int at = (int) (root % SEGMENT_LENGTH) + TreeDescriptor.TREE_OFFSET;
    for (int level : new int[] {0, 1, 2, 40, 41, NodeDescriptor.DEAD}) {
      for (long address = 0; address < regions.size() * (long) SEGMENT_LENGTH; address += 1024) {
        region.putLong(at, TreeDescriptor.tree(1, level, address));
        read(index.newReader(), key(1));
      }
      region.putLong(at, TreeDescriptor.tree(1, level, 1L << 49));
      assertEquals(ReadResult.UNDECIDED, index.newReader().get(key(1), found));
    }
    assertEquals(Write.DAMAGED, submit(new Write(answered -> {}).read(key(1))).outcome());
  }

  /** Files of segments that are truncated end the index; new ones are in other memory. */
  @Test
  void truncatedSegmentsEndTheIndex() throws IOException {
    final List<FileChannel> files = new ArrayList<>();
    gate = map(files, "gate", 4096);
    gate.putLong(0, Memories.INCARNATION);
    final FileChannel gateFile = files.remove(0);
    open(length -> map(files, "segment" + files.size(), length));
    final OrderedReader reader = index.newReader();
    final int before = files.size();
    for (FileChannel file : files) {
      file.truncate(0);
    }
    final ReadResult lost = reader.get(key(1), found);
    assertTrue(lost == ReadResult.LOST || lost == ReadResult.CLOSED, "result=" + lost);
    put(key(1));
    assertTrue(isDamaged());
    index.drop();
    createAgain();
    for (int i = 0; i < KEYS; i++) { // by the owner alone: readers look at the first segment first
      act(key(i));
    }
    assertFalse(isDamaged());
    assertTrue(files.size() > before);
    files.add(gateFile);
    for (FileChannel file : files) {
      file.close();
    }
  }

  /** Memory is taken away between two entries: none is lost or comes twice. */
  @Test
  void scanUnderATruncationEndsBehindWhatItGave() throws IOException {
    int lost = 0;
    for (int w = 0; w < WORLDS; w++) {
      final List<FileChannel> files = new ArrayList<>();
      final int world = w;
      gate = map(files, "gate" + w, 4096);
      gate.putLong(0, Memories.INCARNATION);
      files.remove(0).close();
      open(length -> map(files, "world" + world + "segment" + files.size(), length));
      final List<ByteString> all = new ArrayList<>(expected.keySet());
      if (w % 2 == 1) {
        Collections.reverse(all);
      }
      final ScanCursor cursor =
          w % 2 == 1
              ? ScanCursor.reverse(ByteString.EMPTY, ByteString.EMPTY)
              : ScanCursor.forward(ByteString.EMPTY, ByteString.EMPTY);
      final List<ByteString> keys = new ArrayList<>();
      final int at = random.nextInt(KEYS);
      ReadResult result;
      try {
        result =
            index
                .newReader()
                .scan(
                    cursor,
                    (array, keyOffset, keyLength, valueLength, version, deadline) -> {
                      keys.add(ByteString.copyFrom(array, keyOffset, keyLength));
                      if (keys.size() == at) {
                        truncate(files);
                      }
                      return true;
                    });
      } catch (InternalError e) { // late, as the reader says
        result = ReadResult.LOST;
      }
      assertEquals(all.subList(0, keys.size()), keys);
      if (!keys.isEmpty()) { // the cursor is behind the last one, as far as leaves were left
        final ByteString last = keys.get(keys.size() - 1);
        final int order = expected.comparator().compare(cursor.place(), last);
        assertTrue(w % 2 == 1 ? order <= 0 : order > 0);
        final int given = keys.size();
        if (given < all.size()) {
          final int next = expected.comparator().compare(cursor.place(), all.get(given));
          assertTrue(w % 2 == 1 ? next > 0 : next <= 0, "the next key is still to come");
        }
      }
      lost += result == ReadResult.ABSENT ? 0 : 1;
      for (FileChannel file : files) {
        file.close();
      }
    }
    assertTrue(lost > WORLDS / 2, "lost=" + lost);
  }

  private static void truncate(List<FileChannel> files) {
    try {
      for (FileChannel file : files) {
        file.truncate(0);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** It fails where an owner meets zeros, and once more where an error comes late. */
  private void createAgain() {
    for (int failures = 0; ; failures++) {
      try {
        create();
        return;
      } catch (StoreDamagedException e) {
        assertTrue(failures < 2, e::toString);
      }
    }
  }

  private MemoryRegion map(List<FileChannel> files, String name, int length) throws IOException {
    final FileChannel file =
        FileChannel.open(
            directory.resolve(name),
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE);
    files.add(file);
    return new MappedRegion(file.map(MapMode.READ_WRITE, 0, length));
  }
}
